/** A worker says what it serves, and names open runs whose code it lacks. */
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../core/state/errors.js';
import { lackingLines, lackingRuns } from '../../store/lacking-runs.js';
import type { CodeNames } from '../../store/served.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import { startAnnouncer, type Announcer } from '../../worker/announcer.js';
import { until } from '../until.js';

const QUEUE = { namespace: 'default', taskQueue: 'holdfast' };
const LATELY = { ...QUEUE, withinMs: 60_000, limit: 10 };
const NOTHING: CodeNames = { agents: [], tools: [], hooks: [], providers: [] };
const REFUNDS: CodeNames = {
  ...NOTHING,
  agents: ['refund'],
  tools: ['pay@1#abc'],
  hooks: ['audit'],
};

let store: MemoryStore;
let announcer: Announcer | undefined;
beforeAll(async () => {
  store = await openMemoryStore();
});
afterEach(async () => {
  await announcer?.stop();
  await store.empty();
});
afterAll(() => store.close());

const told: string[] = [];
const tell = (line: string) => void told.push(line);

test('what a worker serves is in the store before it starts, and gone when it has ended', async () => {
  announcer = await startAnnouncer({ ...QUEUE, store, code: REFUNDS, tell });
  expect(await store.listServed(LATELY)).toMatchObject([{ code: REFUNDS, isAlive: true }]);
  await announcer.stop();
  expect(await store.listServed(LATELY)).toMatchObject([{ isAlive: false }]);
});

test('another code is in the store at once, and what is said again later is that', async () => {
  announcer = await startAnnouncer({ ...QUEUE, store, code: REFUNDS, tell, everyMs: 20 });
  await announcer.update(NOTHING);
  expect(await store.listServed(LATELY)).toMatchObject([{ code: NOTHING }]);
  await store.empty();
  await until(async () => (await store.listServed(LATELY)).length === 1);
  expect(await store.listServed(LATELY)).toMatchObject([{ code: NOTHING }]);
});

test('a row that somebody has removed is written again', async () => {
  announcer = await startAnnouncer({ ...QUEUE, store, code: REFUNDS, tell, everyMs: 20 });
  await store.empty();
  await until(async () => (await store.listServed(LATELY)).length === 1);
});

test('a store that is away ends nothing, is told once, and once that it is back, and hears of the worker then', async () => {
  told.length = 0;
  let isAway = true;
  const refuse = () =>
    Promise.reject(
      new HoldfastError('StoreUnavailable', 'The disk is full.', { hint: 'Free disk space.' }),
    );
  const shaky = {
    announceServed: (worker: Parameters<MemoryStore['announceServed']>[0]) =>
      isAway ? refuse() : store.announceServed(worker),
    renewServed: (worker: string) => (isAway ? refuse() : store.renewServed(worker)),
    endServed: store.endServed,
  };
  announcer = await startAnnouncer({ ...QUEUE, store: shaky, code: REFUNDS, tell, everyMs: 20 });
  await until(() => told.length > 0);
  isAway = false;
  await until(() => told.length > 1);
  expect(await store.listServed(LATELY)).toHaveLength(1);
  // Nothing more is said while nothing changes.
  await sleep(100);
  expect(told).toEqual([
    expect.stringContaining('The disk is full. Free disk space. See holdfast doctor.'),
    'The store answers again, after 1 s: runs go on with their next tries.',
  ]);
});

describe('an open run', () => {
  const run = { tenant: 'default', runId: 'run_1', ...QUEUE };
  const needs: CodeNames = { ...NOTHING, tools: ['pay@1#abc', 'read@2#def'], hooks: ['audit'] };

  test('is named with what a worker lacks of its code, and with whether another has it', async () => {
    await store.putNeeds({ ...run, code: needs });
    const own = { ...NOTHING, tools: ['pay@1#other', 'read@2#def'] };
    const line = lackingLines(await lackingRuns(store, { ...QUEUE, own }), 'this worker lacks');
    expect(line).toEqual([
      expect.stringMatching(/^Run run_1 began with tool pay@1, hook audit, .* retiredTools/),
    ]);
    await store.announceServed({ ...QUEUE, worker: 'w1', code: needs });
    expect(lackingLines(await lackingRuns(store, { ...QUEUE, own }), 'this worker lacks')).toEqual([
      expect.stringContaining('Another worker serves it, or did within the last '),
    ]);
    expect((await lackingRuns(store, QUEUE)).named).toEqual([]);
  });

  test('is not named by a worker that has its code, and many are counted', async () => {
    for (let number = 0; number < 25; number += 1) {
      await store.putNeeds({ ...run, runId: `run_${number}`, code: needs });
    }
    expect(
      lackingLines(await lackingRuns(store, { ...QUEUE, own: needs }), 'this worker lacks'),
    ).toEqual([]);
    const lines = lackingLines(
      await lackingRuns(store, { ...QUEUE, own: NOTHING }),
      'this worker lacks',
    );
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toMatch(/^5 more runs/);
    const hasEnded = async () => true;
    expect((await lackingRuns(store, { ...QUEUE, hasEnded })).named).toEqual([]);
    expect(await store.listNeeds({ ...QUEUE, limit: 100 })).toEqual([]);
  });
});
