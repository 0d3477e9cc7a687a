/** The built-in tools of coding agents, as activities execute them on a store. */
import { sandboxOf } from '../../activities/tool/work-folder.js';
import { codingTools } from '../../authoring/index.js';
import type { Json } from '../../core/json/json.js';
import type { ExecuteToolOutput, ToolCallRef } from '../../core/state/effect.js';
import { sha256 } from '../sandbox/folders.js';
import { whereIsolated } from '../sandbox/where-isolated.js';
import { attempt, callOf, executeInput, RUN, startBed, type Bed, type CallFacts } from './setup.js';

let bed: Bed;
let steps = 0;
beforeEach(async () => {
  bed = await startBed({ tools: codingTools });
});
afterEach(() => bed.end());

function callTo(tool: string, args: Json, facts: CallFacts = {}): ToolCallRef {
  steps += 1;
  return callOf(tool, args, { key: `run_1:${steps}`, ...facts });
}

function outcomeOf(call: ToolCallRef, changes = {}): Promise<ExecuteToolOutput> {
  const input = executeInput(call, { timeoutMs: 60_000, ...changes });
  const grant = { ...input.grant, sandbox: true as const };
  return attempt(bed.activities().execute_tool, { ...input, grant });
}

interface Done {
  readonly [name: string]: unknown;
  readonly changed: string[];
}

async function done(call: ToolCallRef): Promise<Done> {
  const { outcome } = await outcomeOf(call);
  if (outcome.kind !== 'ok') throw new Error(JSON.stringify(outcome));
  return JSON.parse(await bed.store.getText('default', outcome.content)) as Done;
}

async function refused(tool: string, args: Json): Promise<string> {
  const { outcome } = await outcomeOf(callTo(tool, args));
  if (outcome.kind !== 'error') throw new Error(JSON.stringify(outcome));
  return outcome.message;
}

function write(path: string, text: string, expectedSha256?: string) {
  const args = { path, text, ...(expectedSha256 !== undefined && { expectedSha256 }) };
  return done(callTo('write_file', args));
}

test('the tools declare what they do', () => {
  const facts = codingTools.map(({ record }) => [
    record.name,
    record.effect,
    record.idempotency,
    record.sandbox,
    record.probes,
  ]);
  expect(facts).toEqual([
    ['shell', 'execute', 'none', 'required', true],
    ['read_file', 'read', 'natural', 'required', false],
    ['write_file', 'write', 'keyed', 'required', true],
    ['edit_file', 'write', 'keyed', 'required', true],
    ['search', 'read', 'natural', 'required', false],
  ]);
});

describe('files of the work folder', () => {
  test('are written, read, edited and found', async () => {
    const text = 'one\ntwo\nthree\n';
    expect(await write('src/a.txt', text)).toEqual({
      path: 'src/a.txt',
      sha256: sha256(text),
      bytes: text.length,
    });
    expect(await done(callTo('read_file', { path: 'src/a.txt', fromLine: 2, lines: 1 }))).toEqual({
      path: 'src/a.txt',
      sha256: sha256(text),
      bytes: text.length,
      lines: 4,
      fromLine: 2,
      text: 'two',
    });
    const edits = [{ find: 'two', replace: 'zwei' }];
    const edit = { path: 'src/a.txt', expectedSha256: sha256(text), edits };
    expect(await done(callTo('edit_file', edit))).toMatchObject({
      before: sha256(text),
      sha256: sha256('one\nzwei\nthree\n'),
      places: 1,
    });
    await write('b.md', 'zwei');
    expect(await done(callTo('search', { pattern: '^z.ei$' }))).toEqual({
      matches: [
        { path: 'b.md', line: 1, text: 'zwei' },
        { path: 'src/a.txt', line: 2, text: 'zwei' },
      ],
      searched: 2,
    });
    expect(await done(callTo('search', { name: '*.txt' }))).toEqual({ files: ['src/a.txt'] });
    expect(await done(callTo('search', { folder: 'src' }))).toEqual({ files: ['src/a.txt'] });
  });

  test('are changed only from what was read', async () => {
    await write('a', 'first');
    expect(await refused('write_file', { path: 'a', text: 'x' })).toMatch(/read it again/);
    const other = { path: 'a', text: 'x', expectedSha256: sha256('other') };
    expect(await refused('write_file', other)).toMatch(/read it again/);
    expect(await refused('write_file', { ...other, path: 'new' })).toMatch(/leave expectedSha256/);
    const edits = [{ find: 'first', replace: 'second' }];
    const stale = { path: 'a', expectedSha256: sha256('stale'), edits };
    expect(await refused('edit_file', stale)).toMatch(/read it again/);
    const fresh = { path: 'a', expectedSha256: sha256('first') };
    const twice = {
      ...fresh,
      edits: [
        { find: 'i', replace: 'o' },
        { find: 'z', replace: '' },
      ],
    };
    expect(await refused('edit_file', twice)).toMatch(/edit 2 stands nowhere/);
    expect((await done(callTo('read_file', { path: 'a' })))['text']).toBe('first');
    await write('a', 'third', sha256('first'));
    expect((await done(callTo('read_file', { path: 'a' })))['text']).toBe('third');
  });

  test.each([
    '../a',
    '/etc/passwd',
    'a/../../b',
    '/proc/self/environ',
    'a//b',
    './a',
    'a/',
    'nul\u0000l',
    'x'.repeat(401),
  ])('are never outside of it: %j', async (path) => {
    for (const [tool, args] of [
      ['read_file', { path }],
      ['write_file', { path, text: 'x' }],
      ['edit_file', { path, expectedSha256: 'a'.repeat(64), edits: [{ find: 'a', replace: 'b' }] }],
    ] as const) {
      const { outcome } = await outcomeOf(callTo(tool, args));
      expect(outcome).toMatchObject({ kind: 'error' });
    }
    expect(await bed.store.folderHead({ tenant: 'default', owner: RUN.runId })).toEqual({
      version: 0,
    });
  });

  test('do not lie below a file, and a folder is none', async () => {
    await write('a/b', 'x');
    expect(await refused('write_file', { path: 'a/b/c', text: 'x' })).toMatch(
      /^The work folder cannot be kept: the path "a\/b\/c" lies below what is no folder\. Nothing was changed\.$/,
    );
    expect(await refused('write_file', { path: 'a', text: 'x' })).toMatch(/a is a folder/);
    expect(await refused('read_file', { path: 'a' })).toMatch(/a is a folder/);
    expect(await refused('read_file', { path: 'c' })).toMatch(/no file c/);
  });

  test('that are too large are refused', async () => {
    const text = 'ü'.repeat(600_000);
    expect(await refused('write_file', { path: 'a', text })).toMatch(/would have 1200000 bytes/);
  });

  test('a search ends, whatever its pattern is', async () => {
    await write('a', `${'a'.repeat(60)}!`);
    expect(await refused('search', { pattern: '^(a+)+$' })).toMatch(/took longer/);
    expect(await refused('search', { pattern: '(' })).toMatch(/cannot be used/);
  });
});

describe('a change of the work folder', () => {
  const { signal } = new AbortController();
  const made = (text: string) => ({
    files: new Map([['a', Buffer.from(text)]]),
    result: { text },
  });

  test('is made once for each call, also when its worker died before the ledger knew', async () => {
    const call = callTo('write_file', { path: 'a', text: 'x' });
    const sandbox = () => sandboxOf({ store: bed.store }, { run: RUN, call, signal });
    expect(await sandbox().change(() => made('first'))).toEqual({ text: 'first' });
    expect(await sandbox().change(() => made('second'))).toEqual({ text: 'first' });
    expect(await sandbox().made()).toEqual({ text: 'first' });
    // What the ledger does not know yet the folder tells.
    expect(await done(call)).toEqual({ text: 'first' });
    expect(await bed.store.folderHead({ tenant: 'default', owner: RUN.runId })).toMatchObject({
      version: 1,
    });
  });

  test('that another call came before is made of what that one left', async () => {
    await write('a', 'x');
    const args = (replace: string) => ({
      path: 'a',
      expectedSha256: sha256('x'),
      edits: [{ find: 'x', replace }],
    });
    const both = [callTo('edit_file', args('y')), callTo('edit_file', args('z'))];
    const kinds = (await Promise.all(both.map((one) => outcomeOf(one)))).map(
      ({ outcome }) => outcome.kind,
    );
    expect(kinds.sort()).toEqual(['error', 'ok']);
  });

  test('of a cycle is one of its goal', async () => {
    const child = { tenant: 'default', child: 'goal_1:c1', parent: 'goal_1', n: 1, digest: 'd' };
    await bed.store.registerChild({ ...child, start: '{}' });
    const call = callTo('write_file', { path: 'a', text: 'x' });
    const of = (runId: string) =>
      sandboxOf({ store: bed.store }, { run: { ...RUN, runId }, call, signal });
    await of('goal_1:c1').change(() => made('first'));
    expect([...(await of('goal_1').look()).entries.keys()]).toEqual(['a']);
    expect([...(await of('other').look()).entries.keys()]).toEqual([]);
  });
});

whereIsolated('the shell', () => {
  test('works on the files of the run, and what it makes is there for the next call', async () => {
    await write('src/a.txt', 'one\n');
    const command =
      'tr a-z A-Z < src/a.txt > b.txt; rm src/a.txt; head -c 3 /dev/urandom > bin; printf "\\0" >> bin; ln -s /etc/passwd link; cat link';
    const ran = await done(callTo('shell', { command }));
    expect(ran).toMatchObject({ endedBy: 'exit', exitCode: 1, removed: ['src/a.txt'] });
    expect(ran.changed.sort()).toEqual(['b.txt', 'bin', 'link']);
    expect((await done(callTo('read_file', { path: 'b.txt' })))['text']).toBe('ONE\n');
    expect(await refused('read_file', { path: 'bin' })).toMatch(/is no text: it has 4 bytes/);
    expect(await refused('read_file', { path: 'link' })).toMatch(/is a link to "\/etc\/passwd"/);
    expect(await refused('write_file', { path: 'link', text: '' })).toMatch(/is a link/);
    expect((await done(callTo('shell', { command: 'ls -A; cat b.txt' })))['stdout']).toBe(
      'b.txt\nbin\nlink\nsrc\nONE\n',
    );
  });

  test('keeps the folder as it was when it became too large, and says so', async () => {
    await write('a', 'x');
    const ran = await done(
      callTo('shell', { command: 'rm a; head -c 17000000 /dev/zero > big; echo done' }),
    );
    expect(ran).toMatchObject({
      stdout: 'done\n',
      changed: [],
      notKept: expect.stringMatching(/bytes/),
    });
    expect(await done(callTo('search', {}))).toEqual({ files: ['a'] });
  });

  test('may leave the folder as it is, for tools that only read', async () => {
    await write('a', 'x');
    const call = callTo('shell', { command: 'unused' });
    const { signal } = new AbortController();
    const sandbox = sandboxOf({ store: bed.store }, { run: RUN, call, signal });
    const command = ['/bin/sh', '-c', 'cat a; echo y > a; echo z > b'];
    for (let n = 0; n < 2; n += 1) {
      expect(await sandbox.run({ command, keep: false })).toMatchObject({ stdout: 'x' });
    }
    expect(await bed.store.folderHead({ tenant: 'default', owner: RUN.runId })).toMatchObject({
      version: 1,
    });
    expect(await sandbox.made()).toBeNull();
  });

  test('that was lost did not count, and never will: finding out takes it away', async () => {
    const call = callTo('shell', { command: 'echo late > late; sleep 2' });
    const running = outcomeOf(call);
    const [shell] = codingTools;
    const sandbox = sandboxOf(
      { store: bed.store },
      { run: RUN, call, signal: new AbortController().signal },
    );
    expect(await shell!.probe!({}, { sandbox } as never)).toBeNull();
    expect((await running).outcome).toMatchObject({
      kind: 'error',
      message: expect.stringMatching(/given up/),
    });
    expect(await done(callTo('search', {}))).toEqual({ files: [] });
    expect((await done({ ...call, attempt: 2 }))['changed']).toEqual(['late']);
    expect(await shell!.probe!({}, { sandbox } as never)).toMatchObject({ changed: ['late'] });
  });

  test('cannot be had where nothing can be isolated, and then nothing happens', async () => {
    const isolation = { kind: 'missing', because: 'bubblewrap (bwrap) is not installed' } as const;
    const input = executeInput(callTo('shell', { command: 'true' }));
    const grant = { ...input.grant, sandbox: true as const };
    const { outcome } = await attempt(bed.activities({ isolation }).execute_tool, {
      ...input,
      grant,
    });
    expect(outcome).toMatchObject({
      kind: 'error',
      code: 'tool_unavailable',
      message:
        'tool_unavailable: This worker can isolate nothing: bubblewrap (bwrap) is not installed.',
    });
  });
});
