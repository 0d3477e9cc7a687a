/** Where a run has stood still, read from the events of its Temporal history. */
import { longestStall, type History } from '../../lab/chaos/stalls.js';

type Attributes = { readonly [name: string]: unknown };

/** One event: seconds since the start, its kind, and what it says. */
type Line = readonly [at: number, kind: string, attributes?: Attributes];

function history(...lines: readonly Line[]): History {
  const events = lines.map(([at, kind, attributes = {}], index) => ({
    eventId: index + 1,
    eventTime: { seconds: 1_000 + Math.floor(at), nanos: (at % 1) * 1e9 },
    [`${kind}EventAttributes`]: attributes,
  }));
  return { events } as unknown as History;
}

const NOW = 1_000_000_000;
const ended = (at: number): Line => [at, 'workflowExecutionCompleted'];

test('an activity that was lost with its worker stalls its run until it begins again', () => {
  const stall = longestStall(
    history(
      [0, 'activityTaskScheduled', { activityId: 'open_run-1' }],
      [61, 'activityTaskStarted', lost({ scheduledEventId: 1, attempt: 2, timeoutType: 1 })],
      [61.5, 'activityTaskCompleted', { scheduledEventId: 1 }],
      ended(62),
    ),
    NOW,
  );
  expect(stall).toMatchObject({ ms: 61_000, from: 0 });
  expect(stall.waitedFor).toBe(
    'open_run-1, delivery 2 after a lost delivery (start to close timeout), begun 61.0 s after it was due',
  );
});

function lost({ scheduledEventId, attempt, timeoutType }: { [name: string]: number }): Attributes {
  return { scheduledEventId, attempt, lastFailure: { timeoutFailureInfo: { timeoutType } } };
}

test('a workflow task that is lost again and again is one stall', () => {
  const stall = longestStall(
    history(
      [0, 'workflowTaskScheduled', { attempt: 1 }],
      [0, 'workflowTaskStarted'],
      [10, 'workflowTaskTimedOut', { timeoutType: 1 }],
      [150, 'workflowTaskScheduled', { attempt: 8 }],
      [150, 'workflowTaskStarted'],
      [150.1, 'workflowTaskCompleted'],
      ended(151),
    ),
    NOW,
  );
  expect(stall).toEqual({
    ms: 140_000,
    from: 10_000,
    waitedFor: 'a workflow task, lost (start to close timeout), attempt 8',
  });
});

test('waiting for a person is no stall, and what follows the answer is', () => {
  const approved = history(
    [0, 'workflowTaskScheduled'],
    [0, 'workflowTaskStarted'],
    [1, 'workflowTaskCompleted'],
    [600, 'workflowExecutionSignaled'],
    [600, 'workflowTaskScheduled'],
    [604, 'workflowTaskStarted'],
    [604, 'workflowTaskCompleted'],
    ended(604),
  );
  expect(longestStall(approved, NOW)).toMatchObject({ ms: 4_000, from: 600_000 });
});

test('a run that has not ended stalls until it is looked at', () => {
  const open = history([0, 'activityTaskScheduled', { activityId: 'close_run-9' }]);
  expect(longestStall(open, 1_000_000 + 30_000)).toMatchObject({
    ms: 30_000,
    waitedFor: 'close_run-9 (never begun, or at work)',
  });
});
