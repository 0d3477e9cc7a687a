/** Events without a started task, as the SDK delivers them beside a query that reads the whole history. */
import {
  startedTasksOnly,
  TASK_NOT_STARTED,
  type Delivery,
} from '../../workflows/started-tasks.js';

const JOB = { resolveActivity: {} };
const QUERY = { queryWorkflow: {} };

function delivery(seconds: number, historyLength: number, more: Delivery = {}): Delivery {
  const timestamp = { seconds, nanos: 5 };
  return {
    timestamp,
    historyLength,
    historySizeBytes: 4_000,
    isReplaying: false,
    jobs: [JOB],
    ...more,
  };
}

/** Whether the last of these is refused; those before are not. */
function isRefused(...deliveries: readonly Delivery[]): boolean {
  const check = startedTasksOnly();
  deliveries.slice(0, -1).forEach(check);
  try {
    check(deliveries.at(-1)!);
    return false;
  } catch (error) {
    expect(String(error)).toContain(TASK_NOT_STARTED);
    return true;
  }
}

test('events that come at the time of the task before are refused', () => {
  expect(isRefused(delivery(100, 16), delivery(100, 24))).toBe(true);
});

test.each<[string, Delivery[]]>([
  ['a task that has started', [delivery(100, 16), delivery(101, 25)]],
  [
    'a task that started within the same second',
    [delivery(100, 16), delivery(100, 25, { timestamp: { seconds: 100, nanos: 6 } })],
  ],
  [
    'a task that started while the clock stood still',
    [delivery(100, 16), delivery(100, 25, { historySizeBytes: 4_800 })],
  ],
  ['one more delivery of the same task', [delivery(100, 16), delivery(100, 16)]],
  ['the first task', [delivery(100, 3)]],
  [
    'a replay',
    [delivery(100, 16, { isReplaying: true }), delivery(100, 25, { isReplaying: true })],
  ],
  ['a query', [delivery(100, 16), delivery(100, 24, { jobs: [QUERY] })]],
])('%s is let in', (_, deliveries) => {
  expect(isRefused(...deliveries)).toBe(false);
});

test('a query in between hides nothing', () => {
  const query = delivery(100, 24, { jobs: [QUERY] });
  expect(isRefused(delivery(100, 16), query, delivery(100, 24))).toBe(true);
});

test('the task that follows a refusal is let in', () => {
  const check = startedTasksOnly();
  check(delivery(100, 16));
  expect(() => check(delivery(100, 24))).toThrow(TASK_NOT_STARTED);
  expect(() => check(delivery(103, 25))).not.toThrow();
});
