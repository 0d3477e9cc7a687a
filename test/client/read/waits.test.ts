/** What a run waits for, as the server's list of pending work says it. */
import { waitsOf, type PendingActivity } from '../../../client/read/waits.js';

const NOW = 1_000_000;
const SINCE = NOW - 300_000;

/** Refused once by a store that is away, and to be tried again. */
const REFUSED: PendingActivity = {
  id: 'r:1',
  type: 'callModel',
  state: 'scheduled',
  attempt: 8,
  dueAt: NOW + 30_000,
  failure: {
    type: 'StoreUnavailable',
    message: 'The database server cannot be reached.',
    facts: { waitingSince: SINCE },
    at: NOW - 10_000,
  },
};
/** Scheduled, and no worker has ever had it. */
const UNTAKEN: PendingActivity = {
  id: 'r:2',
  type: 'executeTool',
  state: 'scheduled',
  attempt: 1,
  dueAt: NOW - 11_000,
};

const waits = (...activities: readonly PendingActivity[]) => waitsOf({ activities }, NOW);
const refusedBy = (type: string, facts: unknown = { waitingSince: SINCE }): PendingActivity => ({
  ...REFUSED,
  failure: { type, message: 'Refused.', facts, at: NOW - 10_000 },
});

test('an activity that was refused waits for what its failure names, since its first refusal', () => {
  expect(waits(REFUSED)).toEqual([
    {
      for: 'the store',
      activity: 'callModel',
      since: SINCE,
      attempts: 7,
      message: 'The database server cannot be reached.',
      nextAt: NOW + 30_000,
    },
  ]);
});

test.each([
  ['is due', { dueAt: NOW }],
  ['is under way', { state: 'started', dueAt: NOW + 30_000 }],
] as const)('a next try that %s is not one to come', (_what, over) => {
  expect(waits({ ...REFUSED, ...over })).toEqual([
    expect.not.objectContaining({ nextAt: expect.anything() }),
  ]);
});

test.each([
  ['StoreUnavailable', {}, 'the store'],
  ['WrongStore', {}, 'the right store'],
  ['TranscriptMissing', {}, 'the transcript'],
  ['NotServed', { tool: 'pay.probed' }, 'a worker with the tool pay.probed'],
  ['NotServed', { agent: 'refund' }, 'a worker with the agent refund'],
  ['NotServed', { payloadVersion: 2 }, 'a newer worker, which reads payloads of version 2'],
  ['NotServed', { payloadVersion: 'x' }, 'a worker that serves it'],
  ['NotServed', { tool: 7 }, 'a worker that serves it'],
  ['NotServed', null, 'a worker that serves it'],
])('a refusal with %s %j waits for %s', (type, facts, expected) => {
  expect(waits(refusedBy(type, facts))).toMatchObject([{ for: expected }]);
});

test.each([{}, null, { waitingSince: -1 }, { waitingSince: '5' }, { waitingSince: NOW + 1 }])(
  'a refusal whose details are %j has waited since its last failure',
  (facts) => {
    expect(waits(refusedBy('StoreUnavailable', facts))).toMatchObject([{ since: NOW - 10_000 }]);
  },
);

test('without the details of the failure the heartbeat says since when', () => {
  const told = { ...refusedBy('WrongStore', undefined), progress: { waitingSince: SINCE } };
  expect(waits(told)).toMatchObject([{ since: SINCE }]);
});

test('an activity that no worker has taken for more than 10 s waits for a worker, since it was scheduled', () => {
  expect(waits(UNTAKEN)).toEqual([
    { for: 'a worker', activity: 'executeTool', since: NOW - 11_000, attempts: 0 },
  ]);
  expect(waits({ ...UNTAKEN, dueAt: NOW - 10_000 })).toEqual([]);
  expect(waits({ ...UNTAKEN, dueAt: undefined })).toEqual([]);
});

test('an activity in a queue of its own waits for a worker of that queue', () => {
  const named = 'a worker of the task queue jail';
  expect(waits({ ...UNTAKEN, queue: 'jail' })).toMatchObject([{ for: named }]);
});

test('an attempt after a failure that no worker takes waits for a worker as well', () => {
  const lost = { type: undefined, message: 'activity Heartbeat timeout', facts: undefined };
  expect(waits({ ...UNTAKEN, attempt: 2, failure: { ...lost, at: NOW - 11_000 } })).toEqual([
    { for: 'a worker', activity: 'executeTool', since: NOW - 11_000, attempts: 1 },
  ]);
});

test('a refused activity that no worker takes any more waits for both', () => {
  expect(waits({ ...REFUSED, dueAt: NOW - 60_000 })).toMatchObject([
    { for: 'the store', since: SINCE },
    { for: 'a worker', since: NOW - 60_000 },
  ]);
});

test('an activity at work waits for nothing, whatever its earlier attempts met', () => {
  expect(waits({ ...UNTAKEN, state: 'started' })).toEqual([]);
  const working = { workedMs: 5, refused: 7, workingAt: NOW - 100 };
  expect(waits({ ...REFUSED, state: 'started', progress: working })).toEqual([]);
});

test('an attempt that was begun and has reached nothing still waits', () => {
  const trying = { workedMs: 0, refused: 7, idleMs: 400 };
  expect(waits({ ...REFUSED, state: 'started', progress: trying })).toMatchObject([
    { for: 'the store', attempts: 8 },
  ]);
});

test('an activity that a model or tool failed waits for nothing: it is tried again', () => {
  expect(waits(refusedBy('RateLimited'), refusedBy('ToolRetryable'))).toEqual([]);
});

describe('an attempt whose time ran out', () => {
  const failure = { type: undefined, facts: undefined, at: NOW - 1_000, timedOut: true as const };
  const OUT_OF_TIME: PendingActivity = {
    ...REFUSED,
    state: 'started',
    attempt: 3,
    scheduledAt: SINCE,
    failure: { ...failure, message: 'activity StartToClose timeout' },
    progress: { workedMs: 0, refused: 0, idleMs: 9_500 },
  };

  test('before it did any work waits for the store: nothing else is in its way', () => {
    expect(waits(OUT_OF_TIME)).toMatchObject([{ for: 'the store', since: SINCE, attempts: 3 }]);
    const scheduled = { ...OUT_OF_TIME, state: 'scheduled' as const, scheduledAt: undefined };
    expect(waits(scheduled)).toMatchObject([{ for: 'the store', since: NOW - 1_000, attempts: 2 }]);
  });

  test.each([
    { workedMs: 0, refused: 0, idleMs: 1, workingAt: NOW },
    { workedMs: 5_000, refused: 0, idleMs: 1 },
    { workedMs: 0, refused: 0 },
    null,
  ])('waits for nothing when its last word was %j', (progress) => {
    expect(waits({ ...OUT_OF_TIME, progress })).toEqual([]);
  });
});

test('a workflow task that nobody takes for more than 10 s waits for a worker', () => {
  const task = { isScheduled: true, attempt: 1, dueAt: NOW - 20_000 };
  const of = (workflowTask: typeof task) => waitsOf({ activities: [], workflowTask }, NOW);
  expect(of(task)).toEqual([{ for: 'a worker', since: NOW - 20_000, attempts: 0 }]);
  expect(of({ ...task, isScheduled: false })).toEqual([]);
  expect(of({ ...task, dueAt: NOW - 9_000 })).toEqual([]);
});

test('the longest wait is first, and there are no more than 50', () => {
  const many = Array.from({ length: 80 }, (_, index) => ({ ...UNTAKEN, dueAt: SINCE + index }));
  const found = waits(...many.toReversed());
  expect(found).toHaveLength(50);
  expect(found[0]).toMatchObject({ since: SINCE });
});

test('what comes from outside is one bounded line without control characters', () => {
  const hostile = `\u001B[2J\u202Epaid\n${'x'.repeat(100_000)}\uD83D`;
  const tool = { ...refusedBy('NotServed', { tool: hostile }), type: hostile };
  const [wait] = waits({ ...tool, failure: { ...tool.failure!, message: hostile } });
  expect(wait!.message!.length).toBeLessThanOrEqual(300);
  expect(wait!.for.length).toBeLessThanOrEqual(160);
  expect(wait!.activity!.length).toBeLessThanOrEqual(128);
  expect(JSON.stringify(wait)).not.toMatch(/[\p{Cc}\p{Cf}]|\\u/u);
});
