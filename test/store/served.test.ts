/** What workers serve, and what open runs need. */
import type { CodeNames } from '../../store/served.js';
import { cleanUp, newStore, rawRows } from './fixtures.js';

afterEach(cleanUp);

const QUEUE = { namespace: 'default', taskQueue: 'holdfast' };
const NOTHING: CodeNames = { agents: [], tools: [], hooks: [], providers: [] };
const REFUNDS: CodeNames = {
  agents: ['refund'],
  tools: ['payments.issue_refund@1#abc'],
  hooks: ['audit'],
  providers: ['anthropic'],
};
const LATELY = { ...QUEUE, withinMs: 60_000, limit: 10 };

test('a worker that has said what it serves is alive, for its own queue alone', async () => {
  const { store, place } = await newStore();
  await store.announceServed({ ...QUEUE, worker: 'w1', code: REFUNDS });
  const { store: other } = await newStore(place);
  expect(await other.listServed(LATELY)).toEqual([
    { worker: 'w1', code: REFUNDS, isAlive: true, silentMs: expect.any(Number) },
  ]);
  expect(await other.listServed({ ...LATELY, taskQueue: 'other' })).toEqual([]);
  expect(await other.listServed({ ...LATELY, namespace: 'other' })).toEqual([]);
});

test('what a worker says once more takes the place of what it said before', async () => {
  const { store } = await newStore();
  await store.announceServed({ ...QUEUE, worker: 'w1', code: REFUNDS });
  await store.announceServed({ ...QUEUE, worker: 'w1', code: NOTHING });
  expect(await store.listServed(LATELY)).toMatchObject([{ worker: 'w1', code: NOTHING }]);
});

test('a worker that has been silent for 30 s is gone, until it says a word again', async () => {
  const { store, place } = await newStore();
  await store.announceServed({ ...QUEUE, worker: 'w1', code: REFUNDS });
  await rawRows(place, `update served set alive_at = alive_at - 31000`);
  expect(await store.listServed(LATELY)).toMatchObject([{ isAlive: false }]);
  expect(await store.listServed({ ...LATELY, withinMs: 30_000 })).toEqual([]);
  expect(await store.renewServed('w1')).toBe(true);
  expect(await store.listServed(LATELY)).toMatchObject([{ isAlive: true }]);
});

test('a worker that has ended is gone at once, and known for a day', async () => {
  const { store, place } = await newStore();
  await store.announceServed({ ...QUEUE, worker: 'w1', code: REFUNDS });
  await store.endServed('w1');
  const [ended] = await store.listServed(LATELY);
  expect(ended).toMatchObject({ isAlive: false });
  expect(ended!.silentMs).toBeLessThan(10_000);
  await rawRows(place, `update served set alive_at = alive_at - 86401000`);
  await store.announceServed({ ...QUEUE, worker: 'w2', code: NOTHING });
  expect(await store.renewServed('w1')).toBe(false);
});

test('a worker that serves more than a row holds may serve anything', async () => {
  const { store } = await newStore();
  const tools = Array.from({ length: 6_000 }, (_, index) => `tool.${index}@1#hash`);
  await store.announceServed({ ...QUEUE, worker: 'w1', code: { ...REFUNDS, tools } });
  const [row] = await store.listServed(LATELY);
  expect(row!.code).toMatchObject({ agents: ['refund'], incomplete: true });
  expect(row!.code.tools.length).toBeLessThan(5_000);
});

test('what a run needs is known until it ends', async () => {
  const { store } = await newStore();
  const run = { tenant: 't', runId: 'r1' };
  await store.putNeeds({ ...run, ...QUEUE, code: REFUNDS });
  await store.putNeeds({ ...run, ...QUEUE, code: { ...REFUNDS, hooks: [] } });
  const needed = { ...run, code: { ...REFUNDS, hooks: [] } };
  expect(await store.needsOf(run)).toEqual(needed);
  expect(await store.listNeeds({ ...QUEUE, limit: 10 })).toEqual([needed]);
  expect(await store.listNeeds({ ...QUEUE, taskQueue: 'other', limit: 10 })).toEqual([]);
  await store.dropNeeds(run);
  expect(await store.needsOf(run)).toBeUndefined();
});

test('a worker that does not say which schema it knows is an older one, until it ends or has been silent for ten minutes', async () => {
  const { store, place } = await newStore();
  const older = () => store.olderWorkers({ namespace: 'default', schema: 23 });
  await store.announceServed({ ...QUEUE, worker: 'new', code: REFUNDS });
  for (const worker of ['w1', 'w2'])
    await store.announceServed({ ...QUEUE, worker, code: NOTHING });
  // As an older release writes it.
  await rawRows(place, `update served set code_json = '{"agents":[]}' where worker <> 'new'`);
  const row = { taskQueue: 'holdfast', schema: 0 };
  expect((await older()).toSorted((a, b) => a.worker.localeCompare(b.worker))).toEqual([
    { worker: 'w1', ...row },
    { worker: 'w2', ...row },
  ]);
  await store.endServed('w1');
  await rawRows(place, `update served set alive_at = alive_at - 590000`);
  expect(await older()).toEqual([{ worker: 'w2', ...row }]);
  await rawRows(place, `update served set alive_at = alive_at - 20000`);
  expect(await older()).toEqual([]);
});
