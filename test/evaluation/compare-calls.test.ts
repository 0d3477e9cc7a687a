/** Expectations of tool calls, each once met and once not. */
import type { EventBody } from '../../core/state/event.js';
import { compare } from '../../evaluation/compare.js';
import type { Observation } from '../../evaluation/engine.js';
import {
  countersWith,
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

describe('results', () => {
  test('are compared in what is expected of them', () => {
    const wanted = { status: 'ok', isError: false, synthetic: false, started: true };
    expect(
      differences({ results: { a: { ...wanted, contains: ['shipped', 'Monday'] } } }, SEEN),
    ).toEqual([]);
  });

  test.each([
    [{ status: 'error' }, 'results.a.status', 'ok'],
    [{ isError: true }, 'results.a.isError', false],
    [{ code: 'timeout' }, 'results.a.code', '(absent)'],
    [{ synthetic: true }, 'results.a.synthetic', false],
    [{ started: false }, 'results.a.started', true],
    [{ contains: 'Tuesday' }, 'results.a.contains', 'shipped on Monday'],
  ])('%j is not so', (wanted, path, observed) => {
    expect(differences({ results: { a: wanted } }, SEEN)).toMatchObject([{ path, observed }]);
  });

  test('a call without a result is a difference', () => {
    expect(differences({ results: { z: { status: 'ok' } } }, SEEN)).toMatchObject([
      { path: 'results.z', observed: 'no result' },
    ]);
  });

  test('contains looks at what the model saw, not at the whole value', () => {
    const whole = happened([
      ...READING.slice(0, 5),
      finished('a', 'read_order', { content: { text: 'shipped on Monday, and much more' } }),
      ...READING.slice(6),
    ]);
    expect(paths({ results: { a: { contains: 'much more' } } }, whole)).toEqual([
      'results.a.contains',
    ]);
  });

  test('a result that compaction took from the end of the conversation is found in an earlier request', () => {
    const compacted = observationWith({
      transcript: [message('U', { text: 'So far: …' }), message('A', { text: 'It shipped.' })],
      requests: [
        {
          model: 'm',
          maxTokens: 1,
          tools: [],
          system: '',
          messages: [message('R', { results: [{ id: 'a', isError: false, text: 'seen once' }] })],
        },
      ],
    });
    expect(paths({ results: { a: { contains: 'seen once' } } }, compacted)).toEqual([]);
  });
});

test('result_order', () => {
  expect(paths({ result_order: [['a']] }, SEEN)).toEqual([]);
  expect(paths({ result_order: [['b']] }, SEEN)).toEqual(['result_order']);
  expect(paths({ result_order: [] }, SEEN)).toEqual(['result_order']);
});

describe('executed', () => {
  test.each([
    [[{ tool: 'read_order' }]],
    [[{ call: 'a', tool: 'read_order', key: 'c1:0', input: { orderId: 'O-1' }, sandbox: false }]],
  ])('%j', (executed) => {
    expect(differences({ executed }, SEEN)).toEqual([]);
  });

  test.each([
    ['nothing at all', [], 'executed[0]'],
    ['another call', [{ call: 'b', tool: 'read_order' }], 'executed[0]'],
    ['another key', [{ tool: 'read_order', key: 'c1:1' }], 'executed[0]'],
    ['an input with more in it', [{ tool: 'read_order', input: {} }], 'executed[0]'],
    ['the sandbox', [{ tool: 'read_order', sandbox: true }], 'executed[0]'],
    ['one more', [{ tool: 'read_order' }, { tool: 'read_order' }], 'executed[1]'],
  ])('is not %s', (_, executed, path) => {
    expect(paths({ executed }, SEEN)).toEqual([path]);
  });
});

test('attempts count over all executions of a call, none is 0', () => {
  const twice = observationWith({ executions: [{ ...EXECUTION, attempts: 2 }, EXECUTION] });
  expect(paths({ attempts: { a: 3, z: 0 } }, twice)).toEqual([]);
  expect(paths({ attempts: { a: 2 } }, twice)).toEqual(['attempts.a']);
});

test('effects count what really happened, an unnamed tool 0', () => {
  expect(paths({ effects: { read_order: 1, issue_refund: 0, constructor: 0 } }, SEEN)).toEqual([]);
  expect(differences({ effects: { read_order: 2 } }, SEEN)).toMatchObject([{ observed: 1 }]);
});

test('forbidden_tools', () => {
  expect(paths({ forbidden_tools: ['issue_refund'] }, SEEN)).toEqual([]);
  expect(differences({ forbidden_tools: ['issue_refund', 'read_order'] }, SEEN)).toMatchObject([
    { path: 'forbidden_tools', expected: 'read_order never executed', observed: 'call a' },
  ]);
});

test('max_tool_calls counts attempts', () => {
  const twice = observationWith({ executions: [{ ...EXECUTION, attempts: 2 }] });
  expect(paths({ max_tool_calls: 2 }, twice)).toEqual([]);
  expect(paths({ max_tool_calls: 1 }, twice)).toEqual(['max_tool_calls']);
});

test('max_in_flight', () => {
  expect(paths({ max_in_flight: 1 }, SEEN)).toEqual([]);
  expect(paths({ max_in_flight: 2 }, SEEN)).toEqual(['max_in_flight']);
});

describe('overlap', () => {
  const calls = ['a', 'b', 'c'].map((id) => ({ id, tool: 'read_order' }));
  const permitted = calls.map(({ id }) => permission(id, 'read_order'));
  const order: readonly EventBody[] = [
    INIT,
    response(calls),
    ...permitted,
    started('a', 'read_order'),
    started('b', 'read_order'),
    finished('a', 'read_order'),
    finished('b', 'read_order'),
    started('c', 'read_order'),
    finished('c', 'read_order'),
    { type: 'tool_results_message', messageId: 'm', callIds: ['a', 'b', 'c'] },
  ];
  const result = resultWith({ counters: countersWith({ proposedCalls: 3, toolCalls: 3 }) });
  const seen = happened(order, { result });

  test('is decided by what was in flight, however short the calls were', () => {
    expect(paths({ overlap: [['a', 'b'], ['b', 'a'], { not: ['a', 'c'] }] }, seen)).toEqual([]);
    expect(differences({ overlap: [['a', 'c']] }, seen)).toMatchObject([
      { path: 'overlap', observed: 'a and c one after the other' },
    ]);
    expect(differences({ overlap: [{ not: ['a', 'b'] }] }, seen)).toMatchObject([
      { observed: 'a and b at the same time' },
    ]);
  });

  test('of a call that never ran is a difference, in both forms', () => {
    expect(differences({ overlap: [['a', 'z']] }, seen)).toMatchObject([
      { observed: 'z never ran' },
    ]);
    expect(differences({ overlap: [{ not: ['a', 'z'] }] }, seen)).toMatchObject([
      { observed: 'z never ran' },
    ]);
  });

  test('of a sub-agent’s calls goes by the clock', () => {
    const executions = [
      { ...EXECUTION, callId: 'x', startedAt: 0, endedAt: 10 },
      { ...EXECUTION, callId: 'y', startedAt: 5, endedAt: 15 },
      { ...EXECUTION, callId: 'z', startedAt: 15, endedAt: 20 },
    ];
    const children = observationWith({ executions });
    expect(
      paths({ overlap: [['x', 'y'], { not: ['y', 'z'] }, { not: ['z', 'y'] }] }, children),
    ).toEqual([]);
    expect(paths({ overlap: [['x', 'z']] }, children)).toEqual(['overlap']);
  });
});

describe('approvals', () => {
  const asked = (callId: string, args: object): EventBody => ({
    type: 'approval_requested',
    askId: `ask-${callId}`,
    kind: 'approval',
    callId,
    tool: 'issue_refund',
    args: args as never,
    argsHash: 'h',
    roles: [],
    quorum: 1,
    policyVersion: '1',
    openedAt: 0,
    expiresAt: 1,
  });
  const resolved = (
    callId: string,
    outcome: Extract<EventBody, { type: 'approval_resolved' }>['outcome'],
  ): EventBody => ({
    type: 'approval_resolved',
    askId: `ask-${callId}`,
    callId,
    outcome,
    by: ['mia'],
    waitedMs: 1,
  });
  const AB = [
    { id: 'a', tool: 'issue_refund', args: { amount: 50 } },
    { id: 'b', tool: 'issue_refund', args: { amount: 60 } },
  ];
  const result = resultWith({
    counters: countersWith({ proposedCalls: 2, toolCalls: 2 }),
  });
  const seen = (...middle: readonly EventBody[]) =>
    happened(
      [
        INIT,
        response(AB),
        ...middle,
        finished('a', 'issue_refund', {
          started: false,
          status: 'error',
          code: 'permission_denied',
        }),
        finished('b', 'issue_refund', {
          started: false,
          status: 'error',
          code: 'permission_denied',
        }),
        { type: 'tool_results_message', messageId: 'm', callIds: ['a', 'b'] },
      ],
      { result, executions: [] },
    );
  const two = seen(
    asked('a', { amount: 50 }),
    resolved('a', 'approved'),
    asked('b', { amount: 60 }),
    resolved('b', 'rejected'),
  );
  const approvals = (wanted: readonly object[], observation = two, rest: object = {}) =>
    differences({ approvals: wanted }, observation, rest).map(({ path }) => path);

  test('match in order, each in what is expected of it', () => {
    expect(
      approvals([
        {
          call: 'a',
          tool: 'issue_refund',
          args: { amount: 50 },
          decision: 'approve',
          decidedBy: 'mi',
          outcome: 'approved',
        },
        { call: 'b', decision: 'reject', outcome: 'rejected' },
      ]),
    ).toEqual([]);
    expect(approvals([{ call: 'b' }])).toEqual([]);
  });

  test.each([
    ['in another order', [{ call: 'b' }, { call: 'a' }], 'approvals[1]'],
    ['of other arguments', [{ call: 'a', args: { amount: 60 } }], 'approvals[0]'],
    ['by somebody else', [{ call: 'a', decidedBy: 'bob' }], 'approvals[0]'],
    ['with another decision', [{ call: 'a', decision: 'reject' }], 'approvals[0]'],
    ['with another outcome', [{ call: 'a', outcome: 'expired' }], 'approvals[0]'],
    ['not at all', [], 'approvals'],
  ])('do not match %s', (_, wanted, path) => {
    expect(approvals(wanted)).toEqual([path]);
  });

  test('that nobody has answered are pending, and withdrawn ones say so', () => {
    const open = seen(asked('a', { amount: 50 }));
    expect(approvals([{ call: 'a', outcome: 'pending' }], open)).toEqual([]);
    expect(approvals([{ call: 'a', decision: 'approve' }], open)).toEqual(['approvals[0]']);
    const withdrawn = seen(asked('a', { amount: 50 }), {
      type: 'approval_withdrawn',
      askId: 'ask-a',
      callId: 'a',
      reason: 'interrupted',
    });
    expect(approvals([{ decision: 'withdrawn', outcome: 'withdrawn' }], withdrawn)).toEqual([]);
  });

  test('that corrected a call match what was asked and what it became', () => {
    const corrected = seen(
      asked('a', { amount: 50 }),
      resolved('a', 'modified'),
      asked('a', { amount: 40 }),
      resolved('a', 'approved'),
    );
    for (const amount of [50, 40]) {
      expect(approvals([{ decision: 'modify', args: { amount } }], corrected)).toEqual([]);
    }
    expect(approvals([{ decision: 'modify', args: { amount: 30 } }], corrected)).toEqual([
      'approvals[0]',
    ]);
  });

  test('are given by a policy that allows what needs one, and only by that', () => {
    const rest = { tools: { issue_refund: {} } };
    const byPolicy = seen(permission('a', 'issue_refund', 'policy:7:0'));
    const wanted = [
      { call: 'a', decision: 'approve', decidedBy: 'policy:7', args: { amount: 50 } },
    ];
    expect(approvals(wanted, byPolicy, rest)).toEqual([]);
    expect(approvals([], byPolicy, rest)).toEqual(['approvals']);
    const free = seen(permission('a', 'read_order', 'policy:7:0'));
    expect(approvals([], free, { tools: { read_order: {} } })).toEqual([]);
  });
});
