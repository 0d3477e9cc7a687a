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
  expect(late.err).toMatch(/describes mcp__crm__find otherwise than it was shown.*mcp diff .*crm/s);
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
  for (const word of ['n\n', '\n', '', 'y e s\n']) {
    const no = await holdfast(['mcp', 'approve', 'crm', '--as', 'mia'], word);
    expect(no.code).toBe(1);
    expect(no.err).toMatch(
      /^Shall runs get this tool as shown\? \[y\/N\] \n?Nothing was approved\.\n$/,
    );
    expect(no.out).toContain(`${'x'.repeat(3_000)}\\u200bthe end`);
  }
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
  const [, words = ''] = /holdfast (mcp approve .*crm mcp__crm__find@[0-9a-f]{64})/.exec(err) ?? [];
  const { code, out } = await holdfast([...words.split(' '), '--as', 'mia']);
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('from now on') });
  expect((await holdfast(['mcp', 'check', 'crm'])).code).toBe(0);
});

test('before a person says yes they see effect, hash and schemas, also of what stays as it was, and of a new tool', async () => {
  const inputSchema = { type: 'object', properties: { id: { type: 'string', maxLength: 7 } } };
  const outputSchema = { type: 'object', properties: { name: { type: 'string' } } };
  const put = { name: 'put', description: 'Puts.', inputSchema, outputSchema, run: () => 'x' };
  server.offer([find('Finds at last.'), { ...put, annotations: { readOnlyHint: true } }]);
  const { out } = await holdfast(['mcp', 'approve', 'crm', '--as', 'mia'], 'n\n');
  const parts = out.split(/^(?=mcp__)/m);
  expect(parts).toHaveLength(2);
  const [changed = '', fresh = ''] = parts;
  expect(changed).toMatch(/^mcp__crm__find: changed, effect unknown, hash [0-9a-f]{64}\n/);
  expect(changed).toContain('description is  "Finds at last."');
  expect(changed).toContain('inputSchema is still {"properties":{},"type":"object"}');
  expect(fresh).toMatch(/^mcp__crm__put: new, effect unknown, hash [0-9a-f]{64}\n/);
  expect(fresh).toContain('inputSchema is  {"properties":{"id":{"maxLength":7,"type":"string"}}');
  expect(fresh).toContain('outputSchema is  {"properties":{"name":{"type":"string"}}');
  expect(fresh).toContain('annotations is  {"readOnlyHint":true}');
  const again = await holdfast(['mcp', 'approve', 'crm', 'put', '--as', 'mia'], 'y\n');
  expect(again).toMatchObject({ code: 0 });
  const known = await holdfast(['mcp', 'approve', 'crm', 'put', '--as', 'mia'], 'n\n');
  expect(known.out).toContain('inputSchema is still {"properties":{"id":{"maxLength":7');
});

test('a tool with words that would not be shown whole cannot be approved', async () => {
  const annotations = { title: 'x'.repeat(33_000) };
  server.offer([{ ...find('Finds.'), annotations }]);
  const { code, err } = await holdfast(['mcp', 'approve', 'crm', 'find', '--as', 'mia'], 'y\n');
  expect({ code, err }).toMatchObject({ code: 2, err: expect.stringMatching(/no usable tool/) });
  expect((await holdfast(['mcp', 'check', 'crm'])).out).toMatch(/its annotations have more than/);
});

test('the difference says that an earlier approval counts again, in words and as JSON', async () => {
  const seen = async (description: string, by: string) => {
    server.offer([find(description)]);
    const hash = await hashNow();
    await holdfast(['mcp', 'approve', 'crm', `find@${hash}`, '--as', by]);
    return hash;
  };
  const first = await seen('Finds once.', 'mia');
  const second = await seen('Finds twice.', 'ann');
  expect((await holdfast(['mcp', 'diff', 'crm'])).out).not.toContain('mcp__crm__find');
  server.offer([find('Finds once.')]);
  const { out, err } = await holdfast(['mcp', 'diff', 'crm']);
  expect(err).toBe('');
  expect(out).toContain(`mcp__crm__find: approved, effect unknown, hash ${first}`);
  expect(out).toMatch(/went back to this description, which was approved .* by mia\./);
  expect(out).toContain('That approval counts again: runs get the tool.');
  expect(out).toMatch(
    new RegExp(`newer description \\(${second.slice(0, 12)}\\) was approved .* by ann`),
  );
  expect(out).toMatch(/description was "Finds twice\."\n +description is {2}"Finds once\."/);
  const told = JSON.parse((await holdfast(['mcp', 'diff', 'crm', '--json'])).out) as {
    readonly connectors: readonly [{ readonly tools: readonly { readonly name: string }[] }];
  };
  const [{ tools }] = told.connectors;
  expect(tools.filter(({ name }) => name === 'mcp__crm__find')).toMatchObject([
    {
      state: 'approved',
      wentBack: {
        at: expect.any(Number),
        by: 'mia',
        newer: { hash: second, at: expect.any(Number), by: 'ann' },
      },
      changes: [{ field: 'description', was: '"Finds twice."', is: '"Finds once."' }],
    },
  ]);
  expect((await holdfast(['mcp', 'check', 'crm'])).out).not.toContain('mcp__crm__find');
});
