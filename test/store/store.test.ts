import { SCHEMA_VERSION } from '../../store/migrations.js';
import { isStoreUrl } from '../../store/postgres/store-url.js';
import { openStoreAt } from '../../store/store.js';
import { cleanUp, eventsFrom, newStore, rawRows, warnings } from './fixtures.js';

afterAll(cleanUp);

const KEY_BEGINNINGS = {
  sqlite: `select m.name as "table", c.name as "column" from sqlite_master m
    join pragma_table_info(m.name) c where m.type = 'table' and c.pk = 1`,
  postgres: `select table_name as "table", column_name as "column"
    from information_schema.table_constraints
    join information_schema.key_column_usage using (constraint_schema, constraint_name, table_name)
    where constraint_schema = current_schema() and constraint_type = 'PRIMARY KEY'
      and ordinal_position = 1`,
};

test('every table has the tenant first in its primary key', async () => {
  const { place } = await newStore();
  const query = KEY_BEGINNINGS[isStoreUrl(place) ? 'postgres' : 'sqlite'];
  const rows = (await rawRows(place, query)) as { table: string; column: string }[];
  const others = rows.filter((row) => row.column !== 'tenant').map((row) => row.table);
  expect(rows.length).toBeGreaterThan(10);
  // These are of the store itself, or of a queue, whose runs are of any tenant.
  expect(others.toSorted()).toEqual(['schema_migrations', 'served', 'store_identity']);
});

test('a new store has the newest schema', async () => {
  const { store } = await newStore();
  expect((await store.health()).schemaVersion).toBe(SCHEMA_VERSION);
});

test('a store keeps what it has when it is opened again', async () => {
  const { store, place } = await newStore();
  const ref = await store.putBlob('t', 'kept');
  await store.close();
  await store.close();
  const { store: again } = await newStore(place);
  expect(await again.getBlob('t', ref.$blob)).toBe('kept');
});

test('a database of a newer schema is refused with the next step', async () => {
  const { store, place } = await newStore();
  await store.close();
  await rawRows(place, `insert into schema_migrations values (9999, 'from the future')`);
  await expect(openStoreAt(place)).rejects.toMatchObject({
    code: 'StoreUnavailable',
    message: expect.stringContaining('9999'),
    hint: expect.stringContaining('Upgrade'),
  });
});

/** Makes every insert into runs fail. */
const FAIL = {
  sqlite: `create trigger fail before insert on runs begin select raise(abort, 'no'); end`,
  postgres: `create function fail() returns trigger language plpgsql
      as $$ begin raise exception 'no'; end $$;
    create trigger fail before insert on runs execute function fail()`,
};
const MEND = { sqlite: 'drop trigger fail', postgres: 'drop trigger fail on runs' };

test('a failed append leaves nothing behind and the store usable', async () => {
  const { store, place } = await newStore();
  const database = isStoreUrl(place) ? 'postgres' : 'sqlite';
  await rawRows(place, FAIL[database]);
  const source = { tenant: 't', runId: 'r1', execution: 'e' };
  await expect(store.appendEvents(source, eventsFrom(0, warnings(2)))).rejects.toMatchObject({
    code: 'Internal',
  });
  await rawRows(place, MEND[database]);
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

test('a closed store says that it is closed', async () => {
  const { store } = await newStore();
  await store.close();
  await expect(store.health()).rejects.toMatchObject({ code: 'StoreUnavailable' });
});
