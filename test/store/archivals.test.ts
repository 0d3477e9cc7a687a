/** Archivals: which closed segments are still to be archived, who tries, and which histories are lost. */
import type { Archival } from '../../store/archivals.js';
import type { Store } from '../../store/store.js';
import { cleanUp, newStore } from './fixtures.js';

afterEach(cleanUp);

const NAMESPACE = 'default';
const RUN = { tenant: 't', runId: 'r1' };
const nameOf = (segment: number) => ({ ...RUN, segment, execution: `e${segment}` });

async function open(store: Store, segment: number, at = 100): Promise<void> {
  await store.openArchival({ ...nameOf(segment), namespace: NAMESPACE }, at);
}

async function claim(store: Store, segment: number, at: number): Promise<Archival> {
  const claimed = await store.claimArchival(nameOf(segment), { at, until: at + 60 });
  return claimed!;
}

const due = (store: Store, at: number, namespace = NAMESPACE) =>
  store.dueArchivals({ namespace, at, limit: 10 });

test('a closed segment is due at once, for workers of its namespace alone, and once', async () => {
  const { store } = await newStore();
  await open(store, 0);
  await open(store, 0, 500);
  expect(await due(store, 99)).toEqual([]);
  expect(await due(store, 100)).toEqual([nameOf(0)]);
  expect(await due(store, 100, 'other')).toEqual([]);
  expect(await store.listArchivals({ limit: 10 })).toEqual([
    { ...nameOf(0), namespace: NAMESPACE, state: 'waiting', since: 100, tries: 0, nextAt: 100 },
  ]);
});

test('of several workers one has it, and of one that died another takes it over', async () => {
  const { store, place } = await newStore();
  const { store: other } = await newStore(place);
  await open(store, 0);
  const turn = { at: 100, until: 160 };
  const claims = await Promise.all(
    [store, other, store].map((one) => one.claimArchival(nameOf(0), turn)),
  );
  expect(claims.filter((one) => one !== undefined)).toMatchObject([{ tries: 1, nextAt: 160 }]);
  expect(await due(store, 159)).toEqual([]);
  expect(await claim(other, 0, 160)).toMatchObject({ tries: 2 });
});

test('what was archived waits no more; what failed is due when it was said, with its reason', async () => {
  const { store } = await newStore();
  await open(store, 0);
  await open(store, 1);
  expect(await store.settleArchival(await claim(store, 0, 100), { state: 'archived' })).toBe(true);
  const failed = await claim(store, 1, 100);
  const fate = { state: 'waiting', fault: 'x'.repeat(9_000), nextAt: 300 } as const;
  expect(await store.settleArchival(failed, fate)).toBe(true);
  expect(await due(store, 299)).toEqual([]);
  expect(await due(store, 300)).toEqual([nameOf(1)]);
  const [listed] = await store.listArchivals({ run: RUN, limit: 10 });
  expect(listed).toMatchObject({ segment: 1, tries: 1, fault: 'x'.repeat(300) });
});

test('a lost history is kept as such, behind those that wait, and never tried again', async () => {
  const { store } = await newStore();
  await open(store, 0);
  await open(store, 1, 200);
  const fate = { state: 'history_lost', fault: 'not found', at: 150 } as const;
  await store.settleArchival(await claim(store, 0, 100), fate);
  expect(await due(store, 1_000)).toEqual([nameOf(1)]);
  await open(store, 0, 1_000);
  expect(await store.listArchivals({ limit: 10 })).toMatchObject([
    { segment: 1, state: 'waiting' },
    { segment: 0, state: 'history_lost', since: 100, lostAt: 150, fault: 'not found' },
  ]);
  expect(await store.listArchivals({ run: { ...RUN, runId: 'other' }, limit: 10 })).toEqual([]);
});

test('a worker that comes late with its failure changes nothing for the next one', async () => {
  const { store } = await newStore();
  await open(store, 0);
  const late = await claim(store, 0, 100);
  const next = await claim(store, 0, 160);
  const fate = { state: 'waiting', fault: 'late', nextAt: 900 } as const;
  expect(await store.settleArchival(late, fate)).toBe(false);
  expect(await store.settleArchival(next, { state: 'archived' })).toBe(true);
  expect(await store.listArchivals({ limit: 10 })).toEqual([]);
});

test('what is archived already is never to be archived again', async () => {
  const { store } = await newStore();
  await store.archiveHistory({ ...nameOf(0), history: Buffer.from('one') });
  await open(store, 0);
  await store.openArchival({ ...nameOf(0), execution: 'reset', namespace: NAMESPACE }, 100);
  expect(await store.listArchivals({ limit: 10 })).toMatchObject([{ execution: 'reset' }]);
});

test('the reason of a failure may be any text', async () => {
  const { store } = await newStore();
  await open(store, 0);
  const fault = `${'x'.repeat(299)}😀\0`;
  await store.settleArchival(await claim(store, 0, 100), { state: 'waiting', fault, nextAt: 200 });
  const [listed] = await store.listArchivals({ limit: 10 });
  expect(listed!.fault).toBe(`${'x'.repeat(299)}\uFFFD`);
});
