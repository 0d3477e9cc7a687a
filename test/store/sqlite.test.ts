import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { SCHEMA_VERSION } from '../../store/migrations.js';
import { openStore } from '../../store/store.js';
import { compiledPath } from '../compiled.js';
import { cleanUp, newFile, newStore } from './fixtures.js';
import { CALL, openTransaction, outsideCalls, REPLY } from './open-transaction.js';

afterAll(cleanUp);

test('a new store is made with its folder, for this user only, in WAL mode with full syncs', async () => {
  const file = join(dirname(newFile()), 'new', 'folder', 'store.db');
  const { store } = await newStore(file);
  expect(await store.health()).toEqual({ place: file, schemaVersion: SCHEMA_VERSION });
  expect(statSync(file).mode & 0o077).toBe(0);
  expect(statSync(dirname(file)).mode & 0o077).toBe(0);
  const raw = new Database(file, { readonly: true });
  expect(raw.pragma('journal_mode', { simple: true })).toBe('wal');
  raw.close();
});

test('later new stores of a process have all that the migrations made of the first, and their own identity', () => {
  const folder = dirname(newFile());
  const store = JSON.stringify(compiledPath(join(__dirname, '..', '..', 'store', 'store.ts')));
  const files = ['first', 'second', 'third'].map((name) => join(folder, name, 'store.db'));
  const program = `(async () => {
    for (const file of ${JSON.stringify(files)}) await (await require(${store}).openStore({ file })).close();
  })()`;
  execFileSync(process.execPath, ['-e', program]);
  const [first, ...later] = files.map(contentsOf);
  expect(first!.objects.length).toBeGreaterThan(50);
  expect(first!.versions).toHaveLength(SCHEMA_VERSION);
  const { identity, ...same } = first!;
  expect(later).toMatchObject([same, same]);
  expect(new Set([identity, ...later.map((one) => one.identity)]).size).toBe(3);
});

function contentsOf(file: string) {
  const raw = new Database(file, { readonly: true });
  const all = (query: string) => raw.prepare<[], object>(query).all();
  const objects = all('select type, name, tbl_name, sql from sqlite_master order by type, name');
  const versions = all('select * from schema_migrations order by version');
  const [{ id: identity, ...ownRow }] = all('select * from store_identity') as [{ id: string }];
  const rows = all(`select name from sqlite_master where type = 'table'`).map((table) => {
    const { name } = table as { readonly name: string };
    return { name, ...raw.prepare<[], object>(`select count(*) as rows from "${name}"`).get() };
  });
  raw.close();
  expect(identity).toMatch(/^[0-9a-f]{32}$/);
  const sorted = rows.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { identity, objects, versions, ownRow, rows: sorted };
}

test('a file that is no database is refused and left as it was', async () => {
  const file = newFile();
  writeFileSync(file, 'my diary, which is longer than a database header. '.repeat(100));
  await expect(openStore({ file })).rejects.toMatchObject({
    code: 'StoreUnavailable',
    hint: expect.any(String),
  });
  expect(statSync(file).size).toBe(5000);
});

test('a folder that cannot be made is a typed error', async () => {
  const file = newFile();
  writeFileSync(file, '');
  await expect(openStore({ file: join(file, 'below', 'store.db') })).rejects.toMatchObject({
    code: 'StoreUnavailable',
    hint: expect.any(String),
  });
});

test('a folder or a pipe is no place for a store, and nothing is made beside it', async () => {
  const folder = dirname(newFile());
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const file of [folder, pipe]) {
    await expect(openStore({ file })).rejects.toMatchObject({
      code: 'StoreUnavailable',
      message: `The place of the store, ${file}, is no file.`,
    });
    expect(existsSync(`${file}.lock`)).toBe(false);
  }
});

test('a store that another process locks too long says so', async () => {
  const file = newFile();
  const store = await openStore({ file, busyWaitMs: 50 });
  const raw = new Database(file);
  raw.exec('begin immediate');
  await expect(store.putBlob('t', 'x')).rejects.toMatchObject({
    code: 'StoreUnavailable',
    details: { sqlite: 'SQLITE_BUSY' },
  });
  raw.exec('rollback');
  raw.close();
  expect(await store.putBlob('t', 'x')).toMatchObject({ bytes: 1 });
  await store.close();
});

test('a file that vanishes is noticed: nothing is acknowledged that would be lost, until it is back', async () => {
  const file = newFile();
  const store = await openStore({ file });
  const kept = await store.putBlob('t', 'kept');
  renameSync(file, `${file}.away`);
  const gone = { code: 'StoreUnavailable', message: expect.stringContaining('is gone') };
  await expect(store.putBlob('t', 'lost')).rejects.toMatchObject(gone);
  await expect(store.getBlob('t', kept.$blob)).rejects.toMatchObject(gone);
  await expect(
    store.together((calls) => calls.putText('t', 'lost'.repeat(5_000))),
  ).rejects.toMatchObject(gone);
  renameSync(`${file}.away`, file);
  expect(await store.getBlob('t', kept.$blob)).toBe('kept');
  copyFileSync(file, `${file}.copy`);
  renameSync(`${file}.copy`, file);
  await expect(store.putBlob('t', 'lost')).rejects.toMatchObject({
    code: 'StoreUnavailable',
    message: expect.stringContaining('Another file'),
  });
  await store.close();
});

test('what a transaction refuses whose file is gone is no answer: the store is away', async () => {
  const file = newFile();
  const store = await openStore({ file });
  const refused = () => Promise.reject(new Error('There is no such row.'));
  await expect(store.together(refused)).rejects.toThrow('There is no such row.');
  renameSync(file, `${file}.away`);
  await expect(store.together(refused)).rejects.toMatchObject({ code: 'StoreUnavailable' });
  renameSync(`${file}.away`, file);
  await expect(store.together(refused)).rejects.toThrow('There is no such row.');
  await store.close();
});

test('a transaction whose file goes away before its commit is refused', async () => {
  const file = newFile();
  const store = await openStore({ file });
  await expect(
    store.together(async (calls) => {
      await calls.putReply({ ...REPLY, output: 'lost' });
      renameSync(file, `${file}.away`);
    }),
  ).rejects.toMatchObject({ code: 'StoreUnavailable' });
  renameSync(`${file}.away`, file);
  expect(await store.getReply(REPLY)).toBeUndefined();
  await store.close();
});

test('a store in memory needs no file', async () => {
  const store = await openStore({ file: ':memory:' });
  const ref = await store.putBlob('t', 'x');
  expect(await store.getBlob('t', ref.$blob)).toBe('x');
  await store.close();
});

test.each(['file', 'memory'])(
  'what others write during a transaction waits for it (%s)',
  async (where) => {
    const { store } = await newStore(where === 'memory' ? ':memory:' : undefined);
    const { end } = await openTransaction(store);
    let done = 0;
    const outside = outsideCalls(store).map((call) => call.then(() => (done += 1)));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(done).toBe(0);
    await expect(end(new Error('no'))).rejects.toThrow('no');
    await Promise.all(outside);
    expect(await store.getReply(REPLY)).toBe('mine');
    expect(await store.getLedgerRow('t', 'k')).toMatchObject({ state: 'claimed' });
    expect((await store.getRun('t', 'r1'))?.lastSeq).toBe(0);
  },
);

test('a transaction that SQLite ended by itself writes nothing more', async () => {
  const { store, place: file } = await newStore();
  const raw = new Database(file);
  raw.exec(`create trigger fail before insert on ledger begin select raise(rollback, 'no'); end`);
  raw.close();
  const work = store.together(async (calls) => {
    await calls.putReply({ ...REPLY, output: 'before' });
    await calls.burn(CALL).catch(() => undefined);
    await calls.putReply({ ...REPLY, call: 2, output: 'after' });
  });
  await expect(work).rejects.toMatchObject({ code: 'StoreUnavailable' });
  expect(await store.getReply(REPLY)).toBeUndefined();
  expect(await store.getReply({ ...REPLY, call: 2 })).toBeUndefined();
  expect(await store.putReply({ ...REPLY, output: 'usable' })).toBe('usable');
});

const LOCKS = '/proc/locks';
const hasLocks = existsSync(LOCKS);
if (!hasLocks) console.log(`${LOCKS} is Linux's: locks on the store's file are not looked at`);

(hasLocks ? test : test.skip)(
  'a store that the process opens again keeps its locks, by which other programs know that its log is in use',
  async () => {
    const { store, place } = await newStore();
    await store.putBlob('t', 'a text');
    const second = await openStore({ file: place });
    await second.close();
    const { ino } = statSync(place);
    const held = readFileSync(LOCKS, 'utf8')
      .split('\n')
      .filter((line) => new RegExp(` ${process.pid} \\S+:${ino} `).test(line));
    expect(held).not.toEqual([]);
  },
);
