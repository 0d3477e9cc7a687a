/** The commands about sessions, on a store alone: hostile texts stay texts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../cli/program.js';
import { openStore } from '../../store/store.js';

const EVIL = '\u001B[2J\u001B]52;c;AAAA\u0007\u202Egpj.exe\u0000 end';
const UNSAFE =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u200B-\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/u;

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-sessions-'));
  const store = await openStore({ file: join(folder, 'store.db') });
  const root = { v: 1, parent: null, role: 'root', messageId: 'root', blocks: [] } as const;
  const said = await store.putNode('default', {
    v: 1,
    parent: await store.putNode('default', root),
    role: 'assistant',
    messageId: `m1${EVIL}`,
    blocks: [
      { type: 'text', text: `${EVIL}\n\n${'long '.repeat(60_000)}last words` },
      { type: 'tool_use', id: `c${EVIL}`, tool: `t${EVIL}`, args: { note: EVIL } },
    ],
  });
  await store.saveSession({
    tenant: 'default',
    sessionId: 's1',
    base: 0,
    head: said,
    runId: 'r1',
    agent: `a${EVIL}`,
    caller: `c${EVIL}`,
    cwd: '',
    title: `t${EVIL}`,
    carry: { v: 1, taskId: 'r1', step: 0, reactiveAttempts: 0, state: {} },
    at: 1_000,
  });
  await store.close();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function holdfast(...argv: readonly string[]) {
  let out = '';
  let err = '';
  const code = await runCli([...argv, '--store', join(folder, 'store.db')], {
    environment: { variables: {}, folder, colour: false, interactive: false },
    streams: {
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
    },
  });
  return { code, out, err };
}

test('sessions are listed without a server, and what is in them moves no cursor', async () => {
  const { code, out } = await holdfast('sessions');
  expect(code).toBe(0);
  expect(out).toContain('s1');
  expect(out).not.toMatch(UNSAFE);
  const json = await holdfast('sessions', '--json');
  expect(json.out.trimEnd()).not.toMatch(UNSAFE);
  expect(JSON.parse(json.out)).toMatchObject({
    sessions: [{ sessionId: 's1', title: `t${EVIL}` }],
  });
  expect(JSON.parse((await holdfast('sessions', '--caller', 'bob', '--json')).out)).toEqual({
    sessions: [],
  });
});

test('a transcript is whole and inert as Markdown, whole and exact as JSON', async () => {
  const { code, out } = await holdfast('transcript', 's1');
  expect(code).toBe(0);
  expect(out).not.toMatch(UNSAFE);
  expect(out).toContain('last words');
  const json = await holdfast('transcript', 's1', '--format', 'json');
  expect(json.out).not.toMatch(UNSAFE);
  expect(JSON.parse(json.out)).toMatchObject({
    kind: 'session',
    messages: [{ messageId: `m1${EVIL}`, calls: [{ args: { note: EVIL } }] }],
  });
});

test('what is not there is named, and the words of the command are checked', async () => {
  const missing = await holdfast('transcript', `no${EVIL.replace('\u0000', '')}`);
  expect(missing.code).toBe(1);
  expect(missing.err).not.toMatch(UNSAFE);
  expect(missing.err).toMatch(/no session and no run no/);
  expect((await holdfast('transcript', 's1', '--format', 'pdf')).code).toBe(2);
  const fork = await holdfast('start', 'a', 'Go.', '--fork');
  expect(fork.code).toBe(2);
});
