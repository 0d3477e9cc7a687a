import { statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { SCHEMA_VERSION } from '../../store/migrations.js';
import { openStore } from '../../store/store.js';
import { cleanUp, eventsFrom, newFile, newStore, warnings } from './fixtures.js';

afterAll(cleanUp);

test('a new store is made with its folder, for this user only, in WAL mode with full syncs', async () => {
  const file = join(dirname(newFile()), 'new', 'folder', 'store.db');
  const { store } = await newStore(file);
  expect(await store.health()).toEqual({ file, schemaVersion: SCHEMA_VERSION });
  expect(statSync(file).mode & 0o077).toBe(0);
  expect(statSync(dirname(file)).mode & 0o077).toBe(0);
  const raw = new Database(file, { readonly: true });
  expect(raw.pragma('journal_mode', { simple: true })).toBe('wal');
  raw.close();
});

test('every table has the tenant first in its primary key', async () => {
  const { file } = await newStore();
  const raw = new Database(file, { readonly: true });
  const rows = raw
    .prepare(
      `select m.name as tableName, c.name as columnName from sqlite_master m
       join pragma_table_info(m.name) c where m.type = 'table' and c.pk = 1`,
    )
    .all() as { tableName: string; columnName: string }[];
  raw.close();
  const others = rows.filter((row) => row.columnName !== 'tenant').map((row) => row.tableName);
  expect(rows.length).toBeGreaterThan(10);
  expect(others).toEqual(['schema_migrations']);
});

test('a store keeps what it has when it is opened again', async () => {
  const { store, file } = await newStore();
  const ref = await store.putBlob('t', 'kept');
  await store.close();
  await store.close();
  const { store: again } = await newStore(file);
  expect(await again.getBlob('t', ref.$blob)).toBe('kept');
});

test('a database of a newer schema is refused with the next step', async () => {
  const { store, file } = await newStore();
  await store.close();
  const raw = new Database(file);
  raw.prepare("insert into schema_migrations values (9999, 'from the future')").run();
  raw.close();
  await expect(openStore({ file })).rejects.toMatchObject({
    code: 'StoreUnavailable',
    message: expect.stringContaining('9999'),
    hint: expect.stringContaining('Upgrade'),
  });
});

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

test('a failed append leaves nothing behind and the store usable', async () => {
  const { store, file } = await newStore();
  const raw = new Database(file);
  raw.exec(`create trigger fail before insert on runs begin select raise(abort, 'no'); end`);
  const source = { tenant: 't', runId: 'r1', execution: 'e' };
  await expect(store.appendEvents(source, eventsFrom(0, warnings(2)))).rejects.toMatchObject({
    code: 'Internal',
  });
  raw.exec('drop trigger fail');
  raw.close();
  expect((await store.readEvents(source, { sinceSeq: 0, limit: 9 })).events).toEqual([]);
  expect(await store.appendEvents(source, eventsFrom(0, warnings(2)))).toBe(2);
});

test('many calls at once are served one after the other', async () => {
  const { store } = await newStore();
  const runs = Array.from({ length: 20 }, (_, index) => `r${index}`);
  await Promise.all(
    runs.map((runId) =>
      store.appendEvents({ tenant: 't', runId, execution: 'e' }, eventsFrom(0, warnings(3))),
    ),
  );
  expect(await store.listRuns('t', { limit: 100 })).toHaveLength(20);
});

test('a store in memory needs no file', async () => {
  const store = await openStore({ file: ':memory:' });
  const ref = await store.putBlob('t', 'x');
  expect(await store.getBlob('t', ref.$blob)).toBe('x');
  await store.close();
});

test('a closed store says that it is closed', async () => {
  const { store } = await newStore();
  await store.close();
  await expect(store.health()).rejects.toMatchObject({ code: 'StoreUnavailable' });
});
