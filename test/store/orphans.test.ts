/** The rows of children that may be orphans: who looks, what is told once, what is over. */
import type { Store } from '../../store/store.js';
import { cleanUp, eventsFrom, newStore, RESULT } from './fixtures.js';

afterEach(cleanUp);

const NAMESPACE = 'default';
const NAME = { tenant: 't', child: 'r1:a1' };
const due = (store: Store, at: number, namespace = NAMESPACE) =>
  store.dueParents({ namespace, at, limit: 10 });
const claim = (store: Store, at: number) =>
  store.claimChildren({ tenant: 't', runId: 'r1', namespace: NAMESPACE }, { at, until: at + 30 });

async function register(store: Store, namespace?: string): Promise<void> {
  const row = { ...NAME, parent: 'r1', n: 1, digest: 'd', start: '{}' };
  await store.registerChild({ ...row, ...(namespace !== undefined && { namespace }) });
}

test('Of several workers one has the children of a parent, until its time is over.', async () => {
  const { store, place } = await newStore();
  const { store: other } = await newStore(place);
  await register(store, NAMESPACE);
  expect(await due(store, 100, 'other')).toEqual([]);
  expect(await due(store, 100)).toEqual([{ tenant: 't', runId: 'r1' }]);
  const claims = await Promise.all([store, other, store].map((one) => claim(one, 100)));
  expect(claims.flat()).toEqual([{ ...NAME, parent: 'r1', sealed: false, told: false }]);
  expect(await due(store, 129)).toEqual([]);
  expect(await claim(other, 130)).toHaveLength(1);
});

test('A row of an older release, which names no namespace, is looked at in each.', async () => {
  const { store } = await newStore();
  await register(store);
  expect(await due(store, 100, 'other')).toHaveLength(1);
});

test('An orphan is sealed with the first word that it stops; what is over is over once and not due any more.', async () => {
  const { store } = await newStore();
  await register(store, NAMESPACE);
  const word = { at: 5, why: 'parent_closed' };
  const both = await Promise.all([store.markStopped(NAME, word), store.markStopped(NAME, word)]);
  expect(both.filter((first) => first)).toHaveLength(1);
  expect(await claim(store, 100)).toMatchObject([{ sealed: true, told: true }]);
  await store.lookAgain(NAME, 1_000);
  expect(await due(store, 999)).toEqual([]);
  expect(await due(store, 1_000)).toHaveLength(1);
  const end = { ...word, costMicroUsd: 7 };
  expect(await store.markOver(NAME, end)).toBe(true);
  expect(await store.markOver(NAME, end)).toBe(false);
  expect(await due(store, 9_999)).toEqual([]);
  expect(await store.readAudit('t', { limit: 9 })).toMatchObject([
    { kind: 'orphan_stopped', runId: 'r1:a1', facts: { why: 'parent_closed', parent: 'r1' } },
    { kind: 'orphan_ended', facts: { costMicroUsd: 7, result: null } },
  ]);
});

test('A child with a result is watched no more, and told with its cost if it was stopped.', async () => {
  const { store } = await newStore();
  const end = { namespace: NAMESPACE, at: 9 };
  const run = { tenant: 't', runId: 'r1', execution: 'e' };
  await store.registerChild({
    tenant: 't',
    child: 'r1',
    parent: 'r0',
    n: 1,
    digest: 'd',
    start: '{}',
  });
  expect(await store.settleEnded(end)).toEqual([]);
  await store.markStopped({ tenant: 't', child: 'r1' }, { at: 5, why: 'parent_closed' });
  await store.appendEvents(run, eventsFrom(0, [{ type: 'run_result', result: RESULT }]));
  const ended = { tenant: 't', child: 'r1', parent: 'r0', costMicroUsd: 4200 };
  expect(await store.settleEnded(end)).toEqual([{ ...ended, stopReason: 'max_cost' }]);
  expect(await store.settleEnded(end)).toEqual([]);
  expect(await due(store, 9_999)).toEqual([]);
  const [, told] = await store.readAudit('t', { limit: 9 });
  expect(told).toMatchObject({ at: 9, facts: { costMicroUsd: 4200, result: 'max_cost' } });
});
