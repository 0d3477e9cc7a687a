/** `holdfast folder`: the work folder of a run, listed, and written where nothing was before. */
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../cli/program.js';
import { folderText, type FolderEntry } from '../../pure/work-folder/entry.js';
import { sha256OfBytes } from '../../store/blobs.js';
import { openStoreAt, type Store } from '../../store/store.js';

const AT = Date.UTC(2026, 0, 1);
const TENANT = 'default';

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-folder-'));
  store = await openStoreAt(join(folder, 'store.db'));
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const file = (text: string, more: object = {}): FolderEntry => ({
  kind: 'file',
  hash: sha256OfBytes(Buffer.from(text)),
  bytes: Buffer.byteLength(text),
  at: AT,
  ...more,
});

/** What a call in a sandbox leaves; a text without content is lost. */
async function left(
  owner: string,
  entries: Readonly<Record<string, FolderEntry>>,
  ...texts: readonly string[]
): Promise<void> {
  await store.putContents(
    TENANT,
    texts.map((text) => Buffer.from(text)),
  );
  const { $blob: hash } = await store.putBlob(TENANT, folderText(new Map(Object.entries(entries))));
  const { version: from } = await store.folderHead({ tenant: TENANT, owner });
  const commit = { tenant: TENANT, owner, key: `${owner}:${from}`, attempt: 1 };
  expect(await store.commitFolder({ ...commit, from, hash, result: 'null', at: AT })).toBe('made');
}

async function holdfast(...words: readonly string[]) {
  let out = '';
  let err = '';
  const code = await runCli([...words, '--store', join(folder, 'store.db'), '--home', folder], {
    environment: { variables: {}, folder, colour: false, interactive: false },
    streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
  });
  return { code, out, err };
}

const there = (): readonly string[] =>
  readdirSync(folder).filter((name) => !name.startsWith('store'));

test('the newest state of the folder is listed, and written with what may be run', async () => {
  await left('run-1', { 'a.txt': file('old') }, 'old');
  await left(
    'run-1',
    {
      'src/main.js': file('print()'),
      'run.sh': file('echo', { runs: true }),
      empty: { kind: 'folder' },
      out: { kind: 'link', target: '/etc/passwd' },
    },
    'print()',
    'echo',
  );
  const { out } = await holdfast('folder', 'run-1', '--json');
  expect(JSON.parse(out)).toEqual({
    runId: 'run-1',
    owner: 'run-1',
    version: 2,
    bytes: 11,
    entries: [
      { path: 'empty', kind: 'folder' },
      { path: 'out', kind: 'link', target: '/etc/passwd' },
      {
        path: 'run.sh',
        kind: 'file',
        bytes: 4,
        sha256: sha256OfBytes(Buffer.from('echo')),
        runs: true,
      },
      {
        path: 'src/main.js',
        kind: 'file',
        bytes: 7,
        sha256: sha256OfBytes(Buffer.from('print()')),
      },
    ],
  });
  const written = await holdfast('folder', 'run-1', '-o', 'made');
  expect(written).toMatchObject({
    code: 0,
    out: expect.stringContaining('2 files, 11 bytes') as string,
  });
  expect(written.out).toContain('left out, because it is a link: out');
  const made = join(folder, 'made');
  expect(readdirSync(made).toSorted()).toEqual(['empty', 'run.sh', 'src']);
  expect(readFileSync(join(made, 'src/main.js'), 'utf8')).toBe('print()');
  expect(statSync(join(made, 'run.sh')).mode & 0o777).toBe(0o700);
  expect(statSync(join(made, 'src/main.js')).mode & 0o777).toBe(0o600);
  expect(() => lstatSync(join(made, 'out'))).toThrow('ENOENT');
});

test('nothing that is there is written over', async () => {
  await left('run-1', { 'a.txt': file('new') }, 'new');
  writeFileSync(join(folder, 'made'), 'mine');
  const { code, err } = await holdfast('folder', 'run-1', '-o', 'made');
  expect([code, err]).toEqual([2, expect.stringContaining('exists, and is kept')]);
  expect(readFileSync(join(folder, 'made'), 'utf8')).toBe('mine');
  expect(there()).toEqual(['made']);
});

test.each([
  ['../evil.txt'],
  ['/etc/evil'],
  ['a/../../evil'],
  ['a//b'],
  ['line\nbreak'],
  [`${'d/'.repeat(40)}deep`],
])('a path %j of the store refuses the whole folder', async (path) => {
  await left('run-1', { 'good.txt': file('good'), [path]: file('evil') }, 'good', 'evil');
  for (const words of [[], ['-o', 'made']]) {
    const { code, err } = await holdfast('folder', 'run-1', ...words);
    expect(code).not.toBe(0);
    expect(err).toContain('cannot be used');
  }
  expect(there()).toEqual([]);
});

test('a place that takes no folder is an error of the file system', async () => {
  await left('run-1', { 'a.txt': file('new') }, 'new');
  writeFileSync(join(folder, 'taken'), '');
  const { code, err } = await holdfast('folder', 'run-1', '-o', 'taken/made');
  expect([code, err]).toEqual([1, expect.stringContaining('cannot be written to')]);
});

test('a file below a link refuses the whole folder', async () => {
  const entries = { out: { kind: 'link', target: '/tmp' } as const, 'out/evil': file('evil') };
  await left('run-1', entries, 'evil');
  expect((await holdfast('folder', 'run-1', '-o', 'made')).err).toContain('cannot be used');
  expect(there()).toEqual([]);
});

test('a content that the store has lost leaves nothing behind', async () => {
  await left('run-1', { 'a.txt': file('kept'), 'b.txt': file('lost') }, 'kept');
  const { code, err } = await holdfast('folder', 'run-1', '-o', 'made');
  expect(code).not.toBe(0);
  expect(err).toContain('b.txt');
  expect(there()).toEqual([]);
});

test('hostile names reach the terminal without what controls it', async () => {
  await left(
    'run-1',
    { '\u202Egpj.exe': file('x'), to: { kind: 'link', target: '\u001B[2J' } },
    'x',
  );
  const { out } = await holdfast('folder', 'run-1');
  // eslint-disable-next-line no-control-regex
  expect(out).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u202E]/);
});

test('a run that is none has no folder', async () => {
  expect((await holdfast('folder', 'nobody')).err).toContain('There is no run nobody');
});
