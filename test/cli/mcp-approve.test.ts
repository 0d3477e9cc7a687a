/** `holdfast mcp approve`: who approved which version of a tool is in the audit trail. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../cli/program.js';
import { openStoreAt } from '../../store/store.js';
import { compiledPath } from '../compiled.js';
import { startModernServer, type ModernServer } from '../connectors/modern-server.js';

const SECRET = 'very-secret-header';
let folder: string;
let server: ModernServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-mcp-approve-'));
  server = await startModernServer([{ name: 'find', description: 'Finds.', run: () => 'x' }]);
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

async function holdfast(...words: readonly string[]) {
  let out = '';
  let err = '';
  const place = ['--store', join(folder, 'store.db'), '--home', folder];
  const code = await runCli([...words, ...place], {
    environment: { variables: {}, folder, colour: false, interactive: false },
    streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
  });
  return { code, out, err };
}

test('each approval names person, tool, version and hash', async () => {
  const approved = async (name: string) => {
    const { code, out, err } = await holdfast('mcp', 'approve', 'crm', '--as', name, '--json');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    return (JSON.parse(out) as { readonly approved: readonly { readonly hash: string }[] })
      .approved;
  };
  const [first] = await approved('mia');
  server.offer([{ name: 'find', description: 'Finds more.', run: () => 'x' }]);
  const [second] = await approved('ann');
  expect(second?.hash).not.toBe(first?.hash);
  const { out } = await holdfast('audit', 'list', '--json');
  const { rows } = JSON.parse(out) as { readonly rows: readonly object[] };
  const tool = { connector: 'crm', tool: 'mcp__crm__find' };
  expect(rows).toMatchObject([
    { kind: 'tool_approved', by: 'mia', facts: { ...tool, hash: first?.hash } },
    { kind: 'tool_approved', by: 'ann', facts: { ...tool, hash: second?.hash } },
  ]);
  expect(out).not.toContain(SECRET);
  expect((await holdfast('audit', 'list')).out).toContain('mcp__crm__find');
});
