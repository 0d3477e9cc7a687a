/** Which store this is: its identity, its epoch, and the runs that it has adopted from others. */
import { Client } from 'pg';
import { noticedLately, restorationsIn, restoredLately } from '../../store/restored.js';
import { openStoreAt } from '../../store/store.js';
import { cleanUp, newStore, onlyOn, rawRows } from './fixtures.js';

afterEach(cleanUp);

test('a store has one identity for all that open it, and another has another', async () => {
  const { store, place } = await newStore();
  const { store: same } = await newStore(place);
  const { store: other } = await newStore();
  const { id, epoch } = await store.identity(1);
  expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect(epoch).toBe(1);
  expect(await same.identity(2)).toEqual({ id, epoch });
  expect((await other.identity(1)).id).not.toBe(id);
});

test('a restoration that somebody declares raises the epoch, and is in the trail', async () => {
  const { store, place } = await newStore();
  const { id } = await store.identity(1);
  expect(await store.raiseEpoch({ at: 7, by: 'mia', reason: 'the disk' })).toEqual({
    id,
    epoch: 2,
  });
  const { store: other } = await newStore(place);
  expect(await other.identity(8)).toEqual({ id, epoch: 2 });
  expect(await store.readAudit('*', { limit: 10 })).toMatchObject([
    {
      at: 7,
      kind: 'store_restored',
      by: 'mia',
      facts: { store: id, epoch: 2, reason: 'the disk' },
    },
  ]);
});

test('a restoration is told of for a month', async () => {
  const { store } = await newStore();
  expect(await restoredLately(store)).toBeUndefined();
  const recent = Date.now() - 86_400_000;
  await store.raiseEpoch({ at: recent - 60 * 86_400_000, by: 'mia', reason: 'the first disk' });
  expect(await restoredLately(store)).toBeUndefined();
  await store.raiseEpoch({ at: recent, by: 'mia', reason: 'the second disk' });
  // Whatever else the trail has: of strangers at the desk, for example.
  const denied = { at: recent, kind: 'access_denied', facts: { status: 401 } } as const;
  await store.appendAudit('*', [denied, denied]);
  expect(await restoredLately(store)).toBe(recent);
  expect(await restoredLately(store, recent + 31 * 86_400_000)).toBeUndefined();
  const told = await restorationsIn(store);
  expect(told.map(({ facts }) => facts.reason)).toEqual(['the first disk', 'the second disk']);
});

test('the newest restoration is told, however many came before', async () => {
  const { store } = await newStore();
  const now = Date.now();
  await store.raiseEpoch({ at: 1, by: 'holdfast', reason: 'a claim is missing' });
  const flapping = {
    at: 2,
    kind: 'store_restored',
    by: 'holdfast',
    facts: { reason: 'two' },
  } as const;
  await store.appendAudit(
    '*',
    Array.from({ length: 1_000 }, () => flapping),
  );
  await store.raiseEpoch({ at: now - 1, by: 'mia', reason: 'the disk' });
  expect(await noticedLately(store, now)).toEqual({ restoredAt: now - 1 });
});

test('a promotion is no older copy: it is told apart, and for a day', async () => {
  const { store } = await newStore();
  const now = Date.now();
  const moved = (to: string) =>
    `The database was restored or promoted: it was 7/5/0001, it is ${to}.`;
  const noticed = (by: string, reason: string) => store.raiseEpoch({ at: now - 9, by, reason });
  await noticed('holdfast', moved('7/5/0002'));
  expect(await noticedLately(store, now)).toEqual({ promotedAt: now - 9 });
  expect(await restoredLately(store, now)).toBeUndefined();
  expect(await noticedLately(store, now + 86_400_000)).toEqual({});
  // Another database, another cluster, or the word of a person.
  for (const [by, reason] of [
    ['holdfast', moved('7/6/0002')],
    ['holdfast', moved('8/5/0002')],
    ['mia', moved('7/5/0002')],
    ['holdfast', 'a claim is missing'],
  ] as const) {
    const { store: other } = await newStore();
    await other.raiseEpoch({ at: now - 5, by, reason });
    expect(await noticedLately(other, now)).toEqual({ restoredAt: now - 5 });
  }
  // A later promotion takes nothing back of a copy that was noticed before it.
  await store.raiseEpoch({ at: now - 8, by: 'mia', reason: 'a dump' });
  await noticed('holdfast', moved('7/5/0003'));
  expect(await restoredLately(store, now)).toBe(now - 8);
});

test('a transaction is told of an epoch that another process has raised before it', async () => {
  const { store, place } = await newStore();
  const { store: other } = await newStore(place);
  const asked = () => store.together((calls) => calls.identity(1));
  const { id } = await asked();
  await other.raiseEpoch({ at: 7, by: 'mia', reason: 'the disk' });
  expect(await asked()).toEqual({ id, epoch: 2 });
});

test('of several that find the same restoration one raises the epoch', async () => {
  const { store, place } = await newStore();
  const { store: other } = await newStore(place);
  const found = { at: 7, by: 'holdfast', reason: 'a claim is missing', from: 1 };
  await Promise.all([store.raiseEpoch(found), store.raiseEpoch(found)]);
  await other.raiseEpoch(found);
  expect(await store.identity(8)).toMatchObject({ epoch: 2 });
  expect(await store.readAudit('*', { limit: 10 })).toHaveLength(1);
});

test('a run is adopted once, for its tenant alone, and that is in the trail', async () => {
  const { store } = await newStore();
  const { id } = await store.identity(1);
  const adoption = { tenant: 't', runId: 'r1', at: 5, by: 'mia' };
  expect(await store.isAdopted('t', 'r1')).toBe(false);
  expect(await store.adoptRun(adoption)).toBe(true);
  expect(await store.adoptRun(adoption)).toBe(false);
  expect(await store.isAdopted('t', 'r1')).toBe(true);
  expect(await store.isAdopted('u', 'r1')).toBe(false);
  expect(await store.readAudit('t', { limit: 10 })).toMatchObject([
    { kind: 'run_adopted', by: 'mia', runId: 'r1', facts: { store: id } },
  ]);
});

onlyOn('postgres')(
  'a database that was copied into another one says that it is a copy',
  async () => {
    const { store, place } = await newStore();
    const before = await store.identity(1);
    // What a dump carries along: the rows as they were, with what the database said of itself then.
    await rawRows(place, `update store_identity set marks = 'another/cluster/00000001'`);
    expect(await store.identity(2)).toEqual({ ...before, epoch: 2 });
    expect(await store.identity(3)).toEqual({ ...before, epoch: 2 });
    expect(await store.readAudit('*', { limit: 10 })).toMatchObject([
      { at: 2, kind: 'store_restored', by: 'holdfast' },
    ]);
  },
);

onlyOn('postgres')(
  'a database on another timeline fences as a copy does, and says no more than that',
  async () => {
    const { store, place } = await newStore();
    await store.identity(1);
    // As a standby that was promoted finds it.
    await rawRows(place, `update store_identity set marks = left(marks, -8) || 'FFFFFFFF'`);
    const now = Date.now();
    expect(await store.identity(now)).toMatchObject({ epoch: 2 });
    expect(await noticedLately(store, now)).toEqual({ promotedAt: now });
  },
);

onlyOn('postgres')('a copy that a person tells of first is not noticed once more', async () => {
  const { store, place } = await newStore();
  const before = await store.identity(1);
  await rawRows(place, `update store_identity set marks = 'another/cluster/00000001'`);
  const told = await store.raiseEpoch({ at: 2, by: 'mia', reason: 'a dump' });
  expect(told).toEqual({ ...before, epoch: 2 });
  expect(await store.identity(3)).toEqual(told);
  expect(await store.readAudit('*', { limit: 10 })).toMatchObject([
    { at: 2, kind: 'store_restored', by: 'mia' },
  ]);
});

onlyOn('postgres')('a role that may not ask the cluster has a store all the same', async () => {
  const { place } = await newStore();
  const admin = new Client({ connectionString: place });
  await admin.connect();
  const schema = new URL(place).searchParams.get('options') ?? '';
  const name = /search_path=([^ ,]+)/.exec(schema)?.[1] ?? 'public';
  const role = `modest_${process.pid}_${name}`.slice(0, 60);
  await admin.query(`create role "${role}" login password 'p'`);
  await admin.query(`grant all on schema "${name}" to "${role}"`);
  await admin.query(`grant all on all tables in schema "${name}" to "${role}"`);
  await admin.query('revoke execute on function pg_control_system() from public');
  try {
    const url = new URL(place);
    url.username = role;
    url.password = 'p';
    const modest = await openStoreAt(url.href);
    expect(await modest.identity(1)).toMatchObject({ epoch: 1 });
    await modest.close();
  } finally {
    await admin.query('grant execute on function pg_control_system() to public');
    await admin.query(`drop owned by "${role}"`);
    await admin.query(`drop role "${role}"`);
    await admin.end();
  }
});
