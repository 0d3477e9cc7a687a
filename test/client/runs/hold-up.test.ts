/** What is said of a run that is started and not open, by what Temporal tells of it. */
import { holdUp, isAtWork, withoutStore, type HoldUpFacts } from '../../../client/runs/hold-up.js';

const NOW = 1_795_000_000_000;
const LOST = { isLost: true, reason: 'the workflow task timed out' };
const FACTS: HoldUpFacts = {
  runId: 'r1',
  taskQueue: 'q',
  attempt: 1,
  task: { isInHand: false, dueAt: NOW - 14_000 },
  activities: [],
  takers: [
    { identity: '1@here', askedAt: NOW - 80_000 },
    { identity: '2@here', askedAt: NOW - 43_000 },
  ],
  workers: 2,
  lastEnd: undefined,
};
const opening = (over: object) => ({ id: 'r1:1', type: 'open_run', attempt: 2, ...over });

const held = (over: Partial<HoldUpFacts>) => holdUp({ ...FACTS, ...over }, NOW);

test.each<[string, Partial<HoldUpFacts>, ReturnType<typeof held>['kind'], boolean, RegExp]>([
  [
    'no worker',
    { takers: [], workers: 0 },
    'no_worker',
    false,
    /^no worker is running on task queue q$/,
  ],
  [
    'workers that decide nothing',
    { takers: [] },
    'no_worker',
    false,
    /^none of the workers on task queue q takes workflow tasks$/,
  ],
  [
    'a lost task that nobody has taken again',
    { attempt: 3, lastEnd: LOST },
    'lost',
    true,
    /lost with a worker .*; attempt 3 waits since 14 s for a worker, and the last one asked for work 43 s ago$/,
  ],
  [
    'a lost task that a worker has again',
    { attempt: 2, lastEnd: LOST, task: { isInHand: true } },
    'lost',
    true,
    /lost with a worker .*; attempt 2 is in the hands of a worker$/,
  ],
  [
    'a lost task of which the history says nothing',
    { attempt: 9 },
    'lost',
    true,
    /lost with a worker/,
  ],
  [
    'a task that failed',
    { attempt: 4, lastEnd: { isLost: false, reason: 'NotServed: version 2' } },
    'failing',
    false,
    /^its workflow task failed, and is tried again \(attempt 4\): NotServed: version 2$/,
  ],
  [
    'an opening that was lost',
    { task: undefined, activities: [opening({ lastFailure: 'Heartbeat timeout', lost: true })] },
    'lost',
    true,
    /^its opening was lost with a worker .*attempt 2/,
  ],
  [
    'an opening that fails',
    { task: undefined, activities: [opening({ lastFailure: 'No store.' })] },
    'failing',
    false,
    /^its opening fails \(attempt 2\): No store$/,
  ],
  [
    'a task that nobody has taken',
    {},
    'busy',
    true,
    /^its workflow task waits since 14 s for a worker, and the last one asked for work 43 s ago$/,
  ],
  [
    'a task in hand',
    { task: { isInHand: true } },
    'busy',
    true,
    /^its workflow task is in the hands of a worker$/,
  ],
  [
    'an opening at work',
    { task: undefined, activities: [opening({})] },
    'busy',
    true,
    /^its opening has not ended yet$/,
  ],
  ['silence', { task: undefined }, 'busy', true, /^no worker has said yet that it is open$/],
])('%s is told as it is, with what to do', (_, over, kind, goesOn, says) => {
  const { next, ...found } = held(over);
  expect(found).toEqual({
    kind,
    goesOn,
    says: expect.stringMatching(says),
    workers: over.workers ?? 2,
  });
  expect(next).toMatch(/^[A-Z].*\.$/);
});

test('nothing but a failure is called one', () => {
  for (const over of [{}, { attempt: 2, lastEnd: LOST }, { takers: [], workers: 0 }]) {
    expect(held(over).says).not.toMatch(/fail/);
  }
});

test('a clock that is behind that of the server counts no seconds below nothing', () => {
  const takers = [{ identity: '1@here', askedAt: NOW + 900 }];
  expect(held({ takers }).says).toMatch(/asked for work 0 s ago$/);
});

test('a task that is lost again and again sends one to the logs of the workers', () => {
  expect(held({ attempt: 2, lastEnd: LOST }).next).not.toMatch(/logs/);
  expect(held({ attempt: 5, lastEnd: LOST }).next).toMatch(/logs of the workers/);
});

test('a run that has begun with anything but its opening is open', () => {
  expect(isAtWork({ activities: [opening({})] })).toBe(false);
  expect(isAtWork({ activities: [opening({ type: 'call_model' })] })).toBe(true);
});

test('workers that wait for the store are not called busy by whoever cannot reach the store either', () => {
  const waits = held({ task: undefined, activities: [opening({ attempt: 1 })] });
  expect(waits).toMatchObject({ kind: 'busy', next: expect.stringContaining('more') as string });
  const told = withoutStore(waits);
  expect(told).toMatchObject({ kind: 'store', goesOn: true, workers: 2 });
  expect(told.says).toBe('its opening has not ended yet, and the store cannot be reached');
  expect(told.next).toMatch(/^See that the store runs/);
  const nobody = held({ takers: [], workers: 0 });
  expect(withoutStore(nobody)).toBe(nobody);
});
