/** Expectations of events, requests and the conversation, and the invariants of every case. */
import type { EventBody } from '../../core/state/event.js';
import { compare } from '../../evaluation/compare.js';
import { traceOf } from '../../evaluation/compare/trace.js';
import type { Observation } from '../../evaluation/engine.js';
import {
  CONVERSATION,
  countersWith,
  eventsOf,
  EXECUTION,
  expecting,
  finished,
  happened,
  INIT,
  message,
  observationWith,
  permission,
  READING,
  response,
  RESULTS_MESSAGE,
  resultWith,
  started,
} from './setup.js';

function differences(expected: object, observation: Observation, rest: object = {}) {
  return compare(expecting(expected, rest), observation);
}

function paths(expected: object, observation: Observation): readonly string[] {
  return differences(expected, observation).map(({ path }) => path);
}

const SEEN = observationWith();

describe('events', () => {
  const events = (...patterns: readonly object[]) => paths({ events: patterns }, SEEN);

  test('match in their order, with anything in between', () => {
    expect(
      events(
        { event: 'session_init' },
        { event: 'permission', call: 'a' },
        { event: 'tool_finished', call: 'a', tool: 'read_order' },
        { event: 'model_response', n: 2 },
        { event: 'run_result' },
      ),
    ).toEqual([]);
  });

  test('do not match in another order', () => {
    const found = differences(
      { events: [{ event: 'tool_finished' }, { event: 'tool_started' }] },
      SEEN,
    );
    expect(found).toEqual([
      {
        path: 'events[1]',
        expected: { event: 'tool_started' },
        observed: 'tool_started at seq 4; not after tool_finished at seq 5',
      },
    ]);
  });

  test('one event does not match twice', () => {
    expect(events({ event: 'tool_started' }, { event: 'tool_started' })).toEqual(['events[1]']);
  });

  test('the k-th occurrence is one of the whole run', () => {
    expect(events({ event: 'tool_started' }, { event: 'model_response', n: 1 })).toEqual([
      'events[1]',
    ]);
    expect(events({ event: 'model_response', n: 3 })).toEqual(['events[0]']);
  });

  test('a negated pattern matches nowhere, not even before', () => {
    expect(events({ event: 'stop' }, { not: { event: 'tool_started', call: 'b' } })).toEqual([]);
    expect(events({ event: 'stop' }, { not: { event: 'tool_started' } })).toEqual(['events[1]']);
    expect(events({ not: { event: 'tool_started', n: 2 } })).toEqual([]);
  });

  test('events about several calls match each of them, and their tools', () => {
    expect(
      events(
        { event: 'model_response', call: 'a', tool: 'read_order' },
        { event: 'tool_results_message', call: 'a', tool: 'read_order' },
      ),
    ).toEqual([]);
    expect(events({ event: 'tool_results_message', call: 'b' })).toEqual(['events[0]']);
  });

  test('hooks match by their name', () => {
    const hooked = happened([
      ...READING,
      { type: 'hook', name: 'PreToolUse', hook: 'h', outcome: 'deny', callId: 'a', durationMs: 1 },
    ]);
    const wanted = (name: string) =>
      paths({ events: [{ event: 'hook', name, tool: 'read_order' }] }, hooked);
    expect(wanted('PreToolUse')).toEqual([]);
    expect(wanted('Stop')).toEqual(['events[0]']);
  });
});

describe('the trace of the oldest form', () => {
  const names = (bodies: readonly EventBody[]) => traceOf(eventsOf(bodies));

  test('is derived from the events', () => {
    const trace = traceOf(SEEN.events);
    for (const name of [
      'step:0:proposal:tool',
      'step:0:validation:execute',
      'step:0:tool:ok',
      'step:0:proposal:answer',
      'step:0:validation:final',
      'proposal',
      'validation',
      'tool_result',
      'stop',
      'system/init',
      'result',
    ])
      expect(trace).toContain(name);
    expect(trace).not.toContain('error');
    expect(trace).not.toContain('step:0:tool:error');
  });

  test('tells refusals and escalations from answers', () => {
    const refusal: EventBody = { ...response([], 'no'), stopReason: 'refusal' } as EventBody;
    expect(names([refusal])).toContain('step:0:proposal:refuse');
    const escalation = [response([]), { type: 'validation', decision: 'escalate' } as const];
    expect(names(escalation)).toContain('step:0:proposal:escalate');
  });

  test('names steps by their number, warnings by their code', () => {
    const trace = traceOf(
      eventsOf([
        { ...finished('a', 'x', { status: 'error' }), step: 3 },
        { type: 'warning', code: 'approval_mismatch', message: 'm' },
      ]),
    );
    expect([...trace]).toEqual(expect.arrayContaining(['step:3:tool:error', 'approval_mismatch']));
  });

  test.each(['requires_trace_events', 'trace_includes'])('is what %s asks', (key) => {
    expect(paths({ [key]: ['proposal', 'stop'] }, SEEN)).toEqual([]);
    expect(paths({ [key]: ['step:1:validation:execute'] }, SEEN)).toEqual([key]);
  });
});

test('transitions are the whole list without next_turn', () => {
  const again = happened([...READING, { type: 'transition', reason: 'empty_response_retry' }]);
  expect(paths({ transitions: ['empty_response_retry'] }, again)).toEqual([]);
  expect(paths({ transitions: [] }, SEEN)).toEqual([]);
  expect(paths({ transitions: [] }, again)).toEqual(['transitions']);
});

test('a segment that ends by itself may be named; one that ends for a handover must be', () => {
  const over = { type: 'transition', reason: 'continued_as_new' } as const;
  const plain = happened([...READING, over]);
  expect(paths({ transitions: [] }, plain)).toEqual([]);
  expect(paths({ transitions: ['continued_as_new'] }, plain)).toEqual([]);
  expect(paths({ transitions: ['continued_as_new'] }, SEEN)).toEqual(['transitions']);
});

test('warnings are pieces of what warnings say', () => {
  const warned = happened([
    ...READING,
    { type: 'warning', code: 'approval_late', message: 'by mia' },
  ]);
  expect(paths({ warnings: ['approval_late', 'by mia'] }, warned)).toEqual([]);
  expect(differences({ warnings: ['by bob'] }, warned)).toMatchObject([
    { path: 'warnings', observed: ['approval_late: by mia'] },
  ]);
});

test('history, persisted, sessions', () => {
  const resumed = observationWith({ persisted: 1, resumedWith: ['U', 'A'] });
  expect(
    paths({ history: 'U A R A', persisted: 1, sessions: { resumed_with: ['U', 'A'] } }, resumed),
  ).toEqual([]);
  expect(paths({ history: 'U A', persisted: 0, sessions: { resumed_with: [] } }, resumed)).toEqual([
    'history',
    'persisted',
    'sessions.resumed_with',
  ]);
});

describe('model_requests', () => {
  test('counts all of them, or looks at the first', () => {
    expect(paths({ model_requests: 2 }, SEEN)).toEqual([]);
    expect(paths({ model_requests: 1 }, SEEN)).toEqual(['model_requests']);
    expect(paths({ model_requests: [{}] }, SEEN)).toEqual([]);
    expect(paths({ model_requests: [{}, {}, {}] }, SEEN)).toEqual(['model_requests[2]']);
  });

  test.each([
    [{ toolsOffered: ['read_order'], toolsNotOffered: ['shell'] }],
    [{ maxTokens: 16_384, model: 'm', roles: 'U' }],
    [{ contains: ['handle cases', 'Handle the case'], notContains: ['shipped'] }],
  ])('%j', (matcher) => {
    expect(differences({ model_requests: [matcher] }, SEEN)).toEqual([]);
  });

  test.each([
    [{ toolsOffered: ['read_order', 'shell'] }, 'toolsOffered'],
    [{ toolsOffered: [] }, 'toolsOffered'],
    [{ toolsNotOffered: ['read_order'] }, 'toolsNotOffered'],
    [{ maxTokens: 1 }, 'maxTokens'],
    [{ model: 'n' }, 'model'],
    [{ roles: 'U A' }, 'roles'],
    [{ contains: ['shipped'] }, 'contains'],
    [{ notContains: ['Handle'] }, 'notContains'],
  ])('%j is not so', (matcher, key) => {
    expect(paths({ model_requests: [matcher] }, SEEN)).toEqual([`model_requests[0].${key}`]);
  });

  test('an empty list of tools says that none is offered', () => {
    expect(paths({ model_requests: [{}, { toolsOffered: [] }] }, SEEN)).toEqual([]);
  });

  test('arguments are looked at as JSON, results as the model sees them', () => {
    const second = { contains: ['{"orderId":"O-1"}', 'shipped on Monday'] };
    expect(paths({ model_requests: [{}, second] }, SEEN)).toEqual([]);
  });
});

describe('invariants hold of every case, whatever it expects', () => {
  const violated = (observation: Observation, rest: object = {}) =>
    differences({ persisted: 0 }, observation, rest).map(
      ({ path, observed }) =>
        `${path}: ${typeof observed === 'string' ? observed : JSON.stringify(observed)}`,
    );

  test('what the engine found', () => {
    expect(violated(observationWith({ violations: ['money is lost'] }))).toEqual([
      'invariants: money is lost',
    ]);
  });

  test('a history that does not replay', () => {
    expect(violated(observationWith({ replayed: false }))).toHaveLength(1);
    expect(violated(observationWith({ replayed: true }))).toEqual([]);
  });

  test('a gap in the events', () => {
    const events = SEEN.events.filter((event) => event.stamp.seq !== 7);
    expect(violated(observationWith({ events }))).toEqual([
      expect.stringContaining('expected seq 7'),
    ]);
  });

  test('an end without run_result', () => {
    expect(violated(observationWith({ events: SEEN.events.slice(0, -1) }))).toContain(
      'invariants: the last event is not run_result',
    );
  });

  test('completed that is not the reason', () => {
    const result = resultWith({ stopReason: 'failed', status: 'failed' });
    expect(violated(happened(READING, { result }))).toEqual([
      expect.stringContaining('completed is not the reason'),
    ]);
  });

  test.each([
    ['a call without its result', CONVERSATION.slice(0, 2), 'the message after it answers nothing'],
    [
      'results in another order',
      [
        message('A', { calls: ['a', 'b'].map((id) => ({ id, tool: 't', args: {} })) }),
        message('R', { results: ['b', 'a'].map((id) => ({ id, isError: false, text: '' })) }),
      ],
      'calls a,b, the message after it answers b,a',
    ],
    ['results of nothing', [CONVERSATION[0], CONVERSATION[2]], 'has results of no message'],
    ['an empty answer', [message('A', { text: ' ' })], 'is an empty answer'],
  ])('%s', (_, transcript, words) => {
    const messages = transcript.flatMap((one) => one ?? []);
    expect(violated(observationWith({ transcript: messages }))).toEqual([
      expect.stringContaining(words),
    ]);
  });

  test('a change to the world without a permission', () => {
    const rest = { tools: { write_note: {} } };
    const run = (...middle: readonly EventBody[]) =>
      happened(
        [
          INIT,
          response([{ id: 'a', tool: 'write_note' }]),
          ...middle,
          finished('a', 'write_note'),
          RESULTS_MESSAGE,
        ],
        { executions: [{ ...EXECUTION, tool: 'write_note' }] },
      );
    expect(violated(run(permission('a', 'write_note'), started('a', 'write_note')), rest)).toEqual(
      [],
    );
    expect(violated(run(started('a', 'write_note')), rest)).toContain(
      'invariants: write_note (a) ran without a permission',
    );
  });

  test('counters that do not add up', () => {
    const result = resultWith({ counters: countersWith({ toolCalls: 0 }) });
    expect(violated(happened(READING, { result }))).toEqual([
      expect.stringContaining('the counters give 0 calls, 1 were proposed'),
    ]);
  });
});
