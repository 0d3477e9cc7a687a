/** Forks of recorded runs: their family, and what of it was handed over. */
import type { NewFork } from '../../store/forks.js';
import type { Store } from '../../store/store.js';
import { cleanUp, newStore } from './fixtures.js';

let store: Store;
beforeEach(async () => {
  store = (await newStore()).store;
});
afterAll(cleanUp);

const TENANT = 'default';
const CALL = {
  key: 'parent:1',
  tool: 'pay',
  digest: 'd1',
  plainDigest: 'p1',
  at: 5,
  isDone: false,
};

const NO_CALLS = { calls: [], more: false };

function put(runId: string, parent: string, over: Partial<NewFork> = {}) {
  return store.putFork({ tenant: TENANT, runId, parent, step: 3, body: '{}', at: 1, ...over });
}

function earlier(runId: string, key = `${runId}:1`) {
  const call = { key, tool: 'pay', argsDigest: 'd1', plainDigest: 'p1' };
  return store.handedOverInFamily({ tenant: TENANT, runId, ...call, limit: 10 });
}

test('what a record gave to executors was handed over, also where the ledger has nothing of it', async () => {
  await put('fork', 'parent', {
    calls: [CALL, { ...CALL, key: 'parent:2', digest: 'd2', plainDigest: 'p2' }],
  });
  expect(await earlier('fork')).toEqual([
    { key: 'parent:1', runId: 'parent', tool: 'pay', at: 5, state: 'in_doubt', approvedBy: [] },
  ]);
  expect(await earlier('fork', 'parent:1')).toEqual([]);
  expect(await earlier('parent')).toEqual([]);
  const call = { runId: 'parent', tool: 'pay', at: 5, state: 'in_doubt' };
  expect(await store.callsOfFamily(TENANT, 'fork', 2)).toEqual({
    calls: [
      { ...call, key: 'parent:1' },
      { ...call, key: 'parent:2' },
    ],
    more: false,
  });
  expect(await store.callsOfFamily(TENANT, 'fork', 1)).toEqual({
    calls: [{ ...call, key: 'parent:1' }],
    more: true,
  });
  expect(await store.callsOfFamily(TENANT, 'parent', 10)).toEqual(NO_CALLS);
});

test('a later record knows more, and forks of forks are of the same family', async () => {
  await put('fork', 'parent', { calls: [CALL] });
  await put('second', 'fork', { calls: [{ ...CALL, key: 'fork:1' }], at: 2 });
  await put('third', 'parent', { calls: [{ ...CALL, isDone: true }], at: 3 });
  const known = await earlier('third');
  expect(new Set(known.map(({ key, state }) => `${key} ${state}`))).toEqual(
    new Set(['fork:1 in_doubt', 'parent:1 done']),
  );
});

test('the ledger says more of a call than the record, and says it once', async () => {
  await put('fork', 'parent', { calls: [CALL] });
  const target = { tenant: TENANT, key: 'parent:1', argsDigest: 'd1', attempt: 1 };
  const subject = { runId: 'parent', callKey: '1', tool: 'pay' };
  await store.claim({ ...target, ...subject, claimedUntil: 9, sameKeyRetry: false });
  expect(await earlier('fork')).toMatchObject([{ key: 'parent:1', state: 'under_way' }]);
});

test('a run names its own forks, the newest first', async () => {
  await put('fork', 'parent');
  await put('newer', 'parent', { at: 2, step: 4 });
  await put('of-fork', 'fork', { at: 3 });
  expect(await store.forksOf(TENANT, 'parent', 10)).toEqual([
    { runId: 'newer', parent: 'parent', step: 4, at: 2 },
    { runId: 'fork', parent: 'parent', step: 3, at: 1 },
  ]);
  expect(await store.forksOf('other', 'parent', 10)).toEqual([]);
});

describe('of a run that started others', () => {
  const child = (id: string, parent: string) => ({
    tenant: TENANT,
    child: id,
    parent,
    n: 1,
    digest: 'd',
    start: '{}',
  });

  async function claimed(runId: string) {
    const target = { tenant: TENANT, key: `${runId}:call`, argsDigest: 'd1', attempt: 1 };
    const subject = { runId, callKey: '1', tool: 'pay' };
    await store.claim({ ...target, ...subject, claimedUntil: 9, sameKeyRetry: false });
  }

  const runs = async (runId: string) => (await earlier(runId, 'own')).map((one) => one.runId);

  test('the family is the whole tree, its forks, and the runs below those', async () => {
    const rows = [
      ['goal:c1', 'goal'],
      ['goal:c1:a1', 'goal:c1'],
      ['fork:a2', 'fork'],
      ['fork:a2:h1', 'fork:a2'],
    ] as const;
    for (const [id, parent] of rows) await store.registerChild(child(id, parent));
    await put('fork', 'goal:c1');
    await put('second', 'fork:a2');
    for (const runId of ['goal:c1:a1', 'fork:a2:h1', 'second', 'goal:x', 'other'])
      await claimed(runId);
    const family = ['fork:a2:h1', 'goal:c1:a1', 'second'];
    for (const member of ['fork', 'fork:a2', 'fork:a9:a1', 'second', 'second:a1'])
      expect([member, (await runs(member)).toSorted()]).toEqual([member, family]);
    // No fork is above these.
    for (const stranger of ['goal', 'goal:c1:a1', 'other', 'other:a1', 'fork:x:a1'])
      expect([stranger, await runs(stranger)]).toEqual([stranger, []]);
    // Whatever they were: those that a fork of the run may ask about.
    const others = async (runId: string) =>
      (await store.callsOfFamily(TENANT, runId, 10)).calls.map((one) => one.runId).toSorted();
    for (const member of ['goal', 'goal:c1', 'goal:c2', 'fork', 'fork:a2', 'third'])
      expect([member, await others(member)]).toEqual([member, member === 'third' ? [] : family]);
    expect(await others('second')).toEqual(['fork:a2:h1', 'goal:c1:a1']);
    expect(await store.callsOfFamily('elsewhere', 'fork', 10)).toEqual(NO_CALLS);
  });

  test('calls of runs that this store knows nothing of are those of the record, each by its run', async () => {
    const below = { ...CALL, runId: 'parent:a1', key: 'parent:a1:1' };
    await put('fork', 'parent', { calls: [CALL, below, { ...below, runId: 'parents', key: 'k' }] });
    expect((await runs('fork:a2')).toSorted()).toEqual(['parent', 'parent:a1']);
  });
});
