/** Events without a started task, as the SDK delivers them beside a query that reads the whole history. */
import {
  RESULT_OF_TASK_BEFORE,
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

describe('a result of a local activity', () => {
  const LOCAL = { resolveActivity: { isLocal: true } };
  const SIGNAL = { signalWorkflow: {} };
  const UPDATE = { doUpdate: {} };
  /** Began its activity, and answered a query while that ran. */
  const asked = (over: Delivery = {}): ReturnType<typeof startedTasksOnly> => {
    const check = startedTasksOnly();
    check(delivery(100, 16, over));
    check(delivery(100, 16, { jobs: [QUERY] }));
    return check;
  };

  test('belongs to the task that asked for it', () => {
    const check = startedTasksOnly();
    check(delivery(100, 16));
    expect(() => check(delivery(101, 16, { jobs: [LOCAL] }))).not.toThrow();
  });

  test('is refused where its marker lies before the task that begins with it', () => {
    expect(() => asked()(delivery(102, 20, { jobs: [LOCAL] }))).toThrow(RESULT_OF_TASK_BEFORE);
  });

  test('is let in where nothing lies before that task but the end of the one before', () => {
    expect(() => asked()(delivery(102, 19, { jobs: [LOCAL] }))).not.toThrow();
  });

  test('is refused behind the signals of a later task, applied with them or after them', () => {
    expect(() => asked()(delivery(102, 21, { jobs: [SIGNAL, LOCAL] }))).toThrow(
      RESULT_OF_TASK_BEFORE,
    );
    const after = asked();
    after(delivery(102, 21, { jobs: [SIGNAL] }), 0);
    expect(() => after(delivery(102, 21, { jobs: [LOCAL] }), 1)).toThrow(RESULT_OF_TASK_BEFORE);
  });

  test('is let in behind signals that are all there is in the history', () => {
    expect(() => asked()(delivery(102, 20, { jobs: [SIGNAL, LOCAL] }))).not.toThrow();
    const after = asked();
    after(delivery(102, 20, { jobs: [SIGNAL] }), 0);
    expect(() => after(delivery(102, 20, { jobs: [LOCAL] }), 1)).not.toThrow();
  });

  test('is refused beside an update, which comes of no event', () => {
    const check = asked();
    expect(() => check(delivery(102, 20, { jobs: [LOCAL, UPDATE] }))).toThrow(
      RESULT_OF_TASK_BEFORE,
    );
  });

  test('is let in when the later task has begun with something else', () => {
    const check = asked();
    check(delivery(102, 21, { jobs: [SIGNAL] }));
    expect(() => check(delivery(103, 21, { jobs: [LOCAL] }))).not.toThrow();
  });

  test('is let in where no query has ended the task before: a heartbeat writes no marker', () => {
    const check = startedTasksOnly();
    check(delivery(100, 16));
    expect(() => check(delivery(108, 19, { jobs: [LOCAL] }))).not.toThrow();
    expect(() => check(delivery(116, 25, { jobs: [LOCAL] }))).not.toThrow();
  });

  // Its activity begins once more in the task that is done again, which nothing else begins: as often as it is done.
  test('is let in by a run that has been loaded for the task which is done again', () => {
    const check = startedTasksOnly();
    check(delivery(100, 16, { isReplaying: true }));
    expect(() => check(delivery(102, 20, { jobs: [LOCAL] }))).not.toThrow();
  });

  test('is let in by a replay, which has it where the history has it', () => {
    const check = asked({ isReplaying: true });
    const later = delivery(102, 20, { jobs: [LOCAL], isReplaying: true });
    expect(() => check(later)).not.toThrow();
  });
});
