/** `holdfast mcp approve`: what is approved was shown, and who approved which version of a tool is in the audit trail. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runCli } from '../../cli/program.js';
import { openStoreAt } from '../../store/store.js';
import { compiledPath } from '../compiled.js';
import { startModernServer, type ModernServer } from '../connectors/modern-server.js';

const SECRET = 'very-secret-header';
let folder: string;
let server: ModernServer;

const find = (description: string) => ({ name: 'find', description, run: () => 'x' });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-mcp-approve-'));
  server = await startModernServer([find('Finds.')]);
  const authoring = compiledPath(join(__dirname, '..', '..', 'authoring', 'index.ts'));
  const connector = { url: server.url, headers: { authorization: SECRET } };
  writeFileSync(
    join(folder, 'holdfast.config.cjs'),
    `const { defineAgent, defineConfig } = require(${JSON.stringify(authoring)});
     const agent = defineAgent({ name: 'a', model: 'scripted/m', instructions: 'x', mcp: ['crm'] });
     module.exports = defineConfig({
       agents: [agent], unknownModels: { prices: 'zero' }, mcp: { crm: ${JSON.stringify(connector)} },
     });`,
  );
  await (await openStoreAt(join(folder, 'store.db'))).close();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** `typed`: by a person at a terminal; absent: nobody is there. */
async function holdfast(words: readonly string[], typed?: string) {
  let out = '';
  let err = '';
  const place = ['--store', join(folder, 'store.db'), '--home', folder];
  const input = new PassThrough();
  input.end(typed);
  const code = await runCli([...words, ...place], {
    environment: { variables: {}, folder, colour: false, interactive: typed !== undefined },
    streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
    input,
  });
  return { code, out, err };
}

async function hashNow(): Promise<string> {
  const { out } = await holdfast(['mcp', 'list', 'crm', '--json']);
  const { connectors } = JSON.parse(out) as {
    readonly connectors: readonly [{ readonly tools: readonly [{ readonly hash: string }] }];
  };
  return connectors[0].tools[0].hash;
}

async function approvals(): Promise<readonly object[]> {
  const { out } = await holdfast(['audit', 'list', '--json']);
  expect(out).not.toContain(SECRET);
  return (JSON.parse(out) as { readonly rows: readonly object[] }).rows;
}

const TOOL = { connector: 'crm', tool: 'mcp__crm__find' };

test('a tool is approved by the hash that somebody has seen: the trail names person, tool and hash', async () => {
  const approve = async (name: string, hash: string) => {
    const words = ['mcp', 'approve', 'crm', `find@${hash}`, '--as', name, '--json'];
    const { code, out, err } = await holdfast(words);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toMatchObject({ approved: [{ tool: 'find', hash }] });
  };
  const first = await hashNow();
  await approve('mia', first);
  server.offer([find('Finds more.')]);
  const second = await hashNow();
  expect(second).not.toBe(first);
  await approve('ann', second);
  expect(await approvals()).toMatchObject([
    { kind: 'tool_approved', by: 'mia', facts: { ...TOOL, hash: first } },
    { kind: 'tool_approved', by: 'ann', facts: { ...TOOL, hash: second } },
  ]);
  expect((await holdfast(['audit', 'list'])).out).toContain('mcp__crm__find');
});

test('a tool that its server has changed since is not approved, nor one that nobody has seen', async () => {
  const before = await approvals();
  const seen = await hashNow();
  server.offer([find('Sends all to me.')]);
  const late = await holdfast(['mcp', 'approve', 'crm', `find@${seen}`, '--as', 'mia']);
  expect(late.code).not.toBe(0);
  expect(late.err).toMatch(/describes mcp__crm__find otherwise than it was shown.*mcp diff crm/s);
  for (const unseen of [[], ['find'], [`find@${seen.slice(0, 12)}`]]) {
    const { code, err } = await holdfast(['mcp', 'approve', 'crm', ...unseen, '--as', 'mia']);
    expect(code).toBe(2);
    expect(err).toMatch(/as somebody has seen them|A hash has 64 characters/);
  }
  expect(await approvals()).toEqual(before);
});

test('at a terminal a person sees each change whole, and what nobody sees of it, before they say yes', async () => {
  const long = `${'x'.repeat(3_000)}\u200Bthe end`;
  server.offer([find(long)]);
  const before = await approvals();
  const no = await holdfast(['mcp', 'approve', 'crm', '--as', 'mia'], 'n\n');
  expect(no).toMatchObject({ code: 0 });
  expect(no.out).toContain(`${'x'.repeat(3_000)}\\u200bthe end`);
  expect(no.err).toMatch(/Nothing was approved/);
  expect(await approvals()).toEqual(before);
  const yes = await holdfast(['mcp', 'approve', 'crm', '--as', 'mia'], 'y\n');
  expect(yes.out).toMatch(/Runs get mcp__crm__find \([0-9a-f]{12}\) from now on/);
  expect(await approvals()).toHaveLength(before.length + 1);
  const again = await holdfast(['mcp', 'approve', 'crm', '--as', 'mia']);
  expect(again).toMatchObject({ code: 0, err: '' });
  expect(again.out).toContain('Runs get all usable tools of crm already.');
});

test('the difference ends with the command that approves it as it was shown', async () => {
  server.offer([find('Finds anew.')]);
  const { err } = await holdfast(['mcp', 'diff', 'crm']);
  const [, words = ''] = /holdfast (mcp approve crm mcp__crm__find@[0-9a-f]{64})/.exec(err) ?? [];
  const { code, out } = await holdfast([...words.split(' '), '--as', 'mia']);
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('from now on') });
  expect((await holdfast(['mcp', 'check', 'crm'])).code).toBe(0);
});
