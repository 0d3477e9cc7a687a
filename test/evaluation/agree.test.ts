import type { EventBody } from '../../core/state/event.js';
import { agree } from '../../evaluation/agree.js';
import type { Observation } from '../../evaluation/engine.js';
import {
  eventsOf,
  finished,
  happened,
  INIT,
  observationWith,
  READING,
  response,
  resultWith,
  RUN_ID,
  started,
  countersWith,
} from './setup.js';

const SEEN = observationWith();

/** The same run as another engine would see it: other ids, other times. */
function elsewhere(observation: Observation): Observation {
  const text = JSON.stringify(observation).replaceAll(RUN_ID, 'case-77');
  const other = JSON.parse(text) as Observation;
  return {
    ...other,
    tookMs: 900,
    events: other.events.map((event) => ({
      ...event,
      ...(event.type === 'tool_finished' && { durationMs: 500 }),
      stamp: { ...event.stamp, at: event.stamp.at * 7 },
    })),
    ...(other.result !== undefined && {
      result: { ...other.result, counters: { ...other.result.counters, activeMs: 9_999 } },
    }),
  };
}

function paths(a: Observation, b: Observation): readonly string[] {
  return agree(a, b).map(({ path }) => path);
}

test('ids of the run, times and durations are an engine’s own', () => {
  expect(paths(SEEN, elsewhere(SEEN))).toEqual([]);
});

test('keys are made of the task, not of the run, whatever the run is called', () => {
  const started = (run: string): Observation =>
    JSON.parse(JSON.stringify(happened(READING)).replaceAll(RUN_ID, run)) as Observation;
  expect(paths(started('c1'), started('c1:2'))).toEqual([]);
});

test.each([
  ['another reason', { stopReason: 'failed' }, 'agreement.result.stopReason'],
  ['another counter', { counters: countersWith({ step: 2 }) }, 'agreement.result.counters.step'],
  ['a field more', { budgetOverrun: true }, 'agreement.result.budgetOverrun'],
] as const)('a result with %s is a difference', (_, changes, path) => {
  expect(paths(SEEN, observationWith({ result: resultWith(changes) }))).toEqual([path]);
});

test('a text may name the task, which one engine calls as the run and another does not', () => {
  const task = 'refund-of-may';
  const saying = (run: string): Observation => {
    const transcript = SEEN.transcript.map((message) => ({
      ...message,
      text: `Paid as ${task}:0.`,
    }));
    const seen = observationWith({
      transcript,
      events: eventsOf([{ ...INIT, taskId: task } as EventBody]),
    });
    return JSON.parse(JSON.stringify(seen).replaceAll(RUN_ID, run)) as Observation;
  };
  expect(paths(saying(task), saying(`${task}:2`))).toEqual([]);
});

test('a message that differs is a difference, and the first one says it', () => {
  const transcript = SEEN.transcript.map((message) => ({ ...message, text: `${message.text}!` }));
  expect(agree(SEEN, observationWith({ transcript }))).toEqual([
    {
      path: 'agreement.transcript[0].text',
      expected: 'Handle the case.',
      observed: 'Handle the case.!',
    },
  ]);
});

test('an event more is a difference where it stands', () => {
  const more = happened([...READING, { type: 'interruption', by: 'cancel' }]);
  const less = happened(READING);
  expect(paths(less, more)).toContain('agreement.events[8].type');
});

test('where a warning stands is free, but not whether it is there', () => {
  const warning = { type: 'warning', code: 'late_input', message: 'm' } as const;
  const before = happened([warning, ...READING]);
  const after = happened([...READING, warning]);
  expect(paths(before, after)).toEqual([]);
  expect(paths(happened(READING), after)).toContain('agreement.asides[0]');
});

const GOAL_ASK = {
  type: 'approval_requested',
  askId: 'ask:1',
  kind: 'approval',
  args: { memory: 'm' },
  argsHash: 'a',
  roles: [],
  quorum: 1,
  policyVersion: '1',
  openedAt: 1,
  expiresAt: 2,
} as const;

function refusedDecision(argsHash: string, by: string): EventBody {
  return {
    type: 'warning',
    code: 'approval_mismatch',
    message: 'm',
    about: { askId: 'ask:1', decision: 'approve', by, argsHash, reason: 'own_request' },
  };
}

test('a refused decision about a question of a goal may name other hashes, but no other person', () => {
  const asked = { ...GOAL_ASK, argsHash: 'b' };
  const one = happened([GOAL_ASK, refusedDecision('a', 'ana')]);
  expect(paths(one, happened([asked, refusedDecision('b', 'ana')]))).toEqual([]);
  expect(paths(one, happened([asked, refusedDecision('b', 'bob')]))).toEqual([
    'agreement.asides[0].about.by',
  ]);
});

test('a refused decision about a call names the same arguments', () => {
  const asked = { ...GOAL_ASK, tool: 'pay', callId: 'c1' };
  const one = happened([asked, refusedDecision('a', 'ana')]);
  expect(paths(one, happened([asked, refusedDecision('b', 'ana')]))).toEqual([
    'agreement.asides[0].about.argsHash',
  ]);
});

test('arguments and outputs are compared whole, whatever their fields are called', () => {
  const at = (value: number) =>
    happened([INIT, { ...started('a', 't'), args: { at: value } } as EventBody]);
  expect(paths(at(1), at(1))).toEqual([]);
  expect(paths(at(1), at(2))).toEqual(['agreement.events[1].args.at']);
});

test('how long a question was open is an engine’s own, what came of it is not', () => {
  const answered = (outcome: 'approved' | 'rejected', waitedMs: number) =>
    happened([
      INIT,
      { type: 'approval_resolved', askId: 'x', callId: 'a', outcome, by: ['mia'], waitedMs },
    ]);
  expect(paths(answered('approved', 1), answered('approved', 99))).toEqual([]);
  expect(paths(answered('approved', 1), answered('rejected', 1))).toEqual([
    'agreement.events[1].outcome',
  ]);
});

test('a start that one engine refuses is a difference', () => {
  const refused = { ...observationWith({ events: [] }), result: undefined };
  const withError = { ...refused, startError: { code: 'InvalidTask', message: 'm' } };
  expect(paths(SEEN, withError)).toContain('agreement.start_error');
});

describe('the order of events of calls that were in flight together', () => {
  const both = response([
    { id: 'a', tool: 't' },
    { id: 'b', tool: 't' },
  ]);
  const seen = (...middle: readonly EventBody[]): Observation => ({
    ...SEEN,
    events: eventsOf([INIT, both, ...middle]),
  });
  const together = [started('a', 't'), started('b', 't')];

  test('is left aside', () => {
    const one = seen(...together, finished('a', 't'), finished('b', 't'));
    const other = seen(...together, finished('b', 't'), finished('a', 't'));
    expect(paths(one, other)).toEqual([]);
  });

  test('but each call keeps its own, and what it says', () => {
    const one = seen(...together, finished('a', 't'), finished('b', 't'));
    const failed = seen(...together, finished('b', 't', { status: 'error' }), finished('a', 't'));
    expect(paths(one, failed)).toEqual([expect.stringContaining('.status')]);
  });

  test('nor do checks that were under way together tell of it', () => {
    const valid: EventBody = { type: 'validation', decision: 'execute', callId: 'a', tool: 't' };
    const skipped = finished('b', 't', { started: false, status: 'skipped' });
    const rest = [started('a', 't'), finished('a', 't')];
    expect(paths(seen(valid, skipped, ...rest), seen(skipped, valid, ...rest))).toEqual([]);
    const late = seen(valid, ...rest, skipped);
    expect(paths(late, seen(skipped, valid, ...rest))).toEqual([]);
  });

  test('one after the other is not together', () => {
    const one = seen(started('a', 't'), finished('a', 't'), started('b', 't'), finished('b', 't'));
    const other = seen(...together, finished('a', 't'), finished('b', 't'));
    expect(paths(one, other)).not.toEqual([]);
    const swapped = seen(
      started('b', 't'),
      finished('b', 't'),
      started('a', 't'),
      finished('a', 't'),
    );
    expect(paths(one, swapped)).not.toEqual([]);
  });
});

test('where a segment ends that serves no handover is free', () => {
  const over = { type: 'transition', reason: 'continued_as_new' } as const;
  const [start, ...rest] = READING;
  const one = happened([...READING]);
  const other = happened([start!, over, ...rest]);
  const told = ({ events }: Observation, of: Observation): Observation => ({
    ...of,
    result: { ...resultWith({}), trace: { ...resultWith({}).trace, events: events.length } },
  });
  expect(paths(told(one, one), told(other, other))).toEqual([]);
  expect(paths(told(one, one), told(one, other))).toEqual(['agreement.result.trace.events']);
});
