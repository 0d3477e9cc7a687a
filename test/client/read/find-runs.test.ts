/** A search among more runs than are looked at. */
import { failuresOf } from '../../../client/read/failures.js';
import { findRuns, SCANNED_MAX, type FindingStore } from '../../../client/read/find-runs.js';
import type { RunRow, RunsQuery } from '../../../store/runs.js';

const NEWEST = SCANNED_MAX + 5_000;

/** Run number n began at n, and failed at once. */
function storeOf(newest: number): FindingStore {
  return {
    listRuns: (_tenant: string, { before, limit }: RunsQuery) => {
      const from = before === undefined ? newest : Math.min(newest, before.startedAt - 1);
      return Promise.resolve(
        Array.from({ length: Math.min(limit, from) }, (_, index) => rowAt(from - index)),
      );
    },
    readEvents: () => Promise.resolve({ events: [] }),
  } as unknown as FindingStore;
}
const store = storeOf(NEWEST);

function rowAt(at: number): RunRow {
  const times = { startedAt: at, completedAt: at, updatedAt: at };
  const trail = { tools: new Set(), errorCodes: new Set() };
  return {
    tenant: 't',
    runId: `r${at}`,
    agent: 'a',
    stopReason: 'failed',
    trail,
    ...times,
  } as unknown as RunRow;
}

test('newer runs than the time that is asked about hide none of that time', async () => {
  const { rows } = await findRuns(store, 't', { started: { from: 1_001, to: 1_003 }, limit: 10 });
  expect(rows.map(({ runId }) => runId)).toEqual(['r1003', 'r1002', 'r1001']);
  expect(await failuresOf(store, 't', { since: 1_001, until: 1_003 })).toMatchObject({
    ended: 3,
    failed: 3,
  });
});

test('an order by cost says that more runs fit, and that not all were looked at', async () => {
  const found = await findRuns(store, 't', { sort: 'cost', limit: 2 });
  expect(found.left).toBe('scanned');
  const few = { from: 1_001, to: 1_002 };
  const two = await findRuns(store, 't', { sort: 'cost', limit: 1, started: few });
  expect(two).toMatchObject({ rows: [{ runId: 'r1002' }], left: 'limit' });
  const all = await findRuns(store, 't', { sort: 'cost', limit: 2, started: few });
  expect(Object.keys(all)).toEqual(['rows']);
});

test.each([
  ['as many runs as are looked at are all of them', SCANNED_MAX, undefined],
  ['one run more is left out, and that is said', SCANNED_MAX + 1, 'scanned'],
])('%s', async (_what, count, left) => {
  const runs = storeOf(count);
  expect((await findRuns(runs, 't', { sort: 'cost', limit: count })).left).toBe(left);
  const byStart = await findRuns(runs, 't', { limit: count, stopReason: 'none' });
  expect(byStart.rest?.runId).toBe(left && 'r2');
  expect(await failuresOf(runs, 't', { since: 0, until: count })).toMatchObject({
    ended: SCANNED_MAX,
    truncated: left !== undefined,
  });
});

test('a condition that was asked of all runs has left none out', async () => {
  const also = () => Promise.resolve(true);
  const [three, four] = [storeOf(3), storeOf(4)];
  const asked = { sort: 'cost', limit: 10, also, alsoMax: 3 } as const;
  expect(await findRuns(three, 't', asked)).toEqual({ rows: [rowAt(3), rowAt(2), rowAt(1)] });
  expect((await findRuns(four, 't', asked)).left).toBe('scanned');
});
