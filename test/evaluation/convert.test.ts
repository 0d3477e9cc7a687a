import { resultOf } from '../../evaluation/fixture.js';
import { parseFixture } from '../../evaluation/read-fixture.js';
import { replyAt } from '../../evaluation/script.js';
import { OLDEST_FORM } from './samples.js';
import { caseOf, FILE } from './setup.js';

const expected = { completed: true };

describe('a case has the defaults of the format', () => {
  const plain = caseOf({ expected });

  test('goal, task id, prices', () => {
    expect(plain.task).toEqual({ goal: 'Handle the case.', taskId: 'c1' });
    expect([...plain.settings.pricing]).toEqual([
      ['*', { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }],
    ]);
    expect(plain.budget).toEqual({});
  });

  test('an empty goal stays empty, because a start without a goal is a case too', () => {
    expect(caseOf({ goal: '', expected }).task.goal).toBe('');
  });

  test('stop reason and usage of replies', () => {
    const { model } = caseOf({
      model: [
        { text: 'x' },
        { calls: [{ id: 'a', tool: 'shell', input: {} }], usage: { output: 7 } },
        { calls: [{ id: 'a', tool: 'shell', incomplete: true }] },
      ],
      expected,
    });
    expect(model.map(({ reply }) => reply)).toMatchObject([
      { stopReason: 'end_turn', usage: { input: 1_000, output: 100, cacheRead: 0, cacheWrite: 0 } },
      { stopReason: 'tool_use', usage: { input: 1_000, output: 7 } },
      { stopReason: 'end_turn', calls: [{ incomplete: true }] },
    ]);
  });

  test('strict001 sets four settings, and what the case says itself wins', () => {
    const strict = caseOf({ profile: 'strict001', settings: { onInvalid: 'observe' }, expected });
    expect(strict.settings).toMatchObject({
      onDeny: 'refuse',
      onInvalid: 'observe',
      onToolFailure: { mode: 'stop', threshold: 1, outcome: 'tool_failure' },
    });
    expect(strict.budget).toEqual({ emptyResponseRetries: 0 });
    const own = caseOf({ profile: 'strict001', budget: { emptyResponseRetries: 2 }, expected });
    expect(own.budget).toEqual({ emptyResponseRetries: 2 });
  });
});

describe('constraints and success criteria, whose form the format leaves open', () => {
  const taskOf = (task: object) => caseOf({ task, expected }).task;

  test.each([
    ['a text', 'Be polite.', ['Be polite.']],
    ['a list', ['Be polite.', { max: 1 }], ['Be polite.', '{"max":1}']],
    ['an object', { maxRefund: 100, tone: 'polite' }, ['maxRefund: 100', 'tone: polite']],
    ['a number', 3, ['3']],
  ])('constraints as %s are lines for the model', (_form, constraints, lines) => {
    expect(taskOf({ constraints }).constraints).toEqual(lines);
  });

  test('null says nothing', () => {
    expect(taskOf({ constraints: null, successCriteria: null })).toEqual({
      goal: 'Handle the case.',
      taskId: 'c1',
    });
  });

  test('a criterion that can be checked is checked, any other is said to the model', () => {
    const when = { path: 'answer', equals: 'Done.' };
    const given = { id: 'own', when };
    expect(
      taskOf({ constraints: ['First.'], successCriteria: [given, when, 'It is known.'] }),
    ).toMatchObject({
      successCriteria: [given, { id: 'criterion_2', when }],
      constraints: ['First.', 'It is done when: It is known.'],
    });
    expect(taskOf({ successCriteria: when }).successCriteria).toEqual([
      { id: 'criterion_1', when },
    ]);
  });
});

describe('the manifest', () => {
  test('has the tools that the case names anywhere, if they exist', () => {
    const { manifest, tools } = caseOf({
      tools: { 'crm.find': {} },
      task: { allowedActions: ['search_refund_policy'] },
      agents: { r: { model: [{ calls: [{ id: 'z', tool: 'read_delivery_status', input: {} }] }] } },
      model: [
        { repeat: 2, reply: { calls: [{ id: 'a', tool: 'read_order', input: {} }] } },
        {
          error: { status: 529 },
          after: { calls: [{ id: 'b', tool: 'write_note', input: {} }] },
        },
        { calls: [{ id: 'c', tool: 'nope', input: {} }] },
      ],
      expected,
    });
    expect(manifest).toEqual([
      'crm.find',
      'read_delivery_status',
      'read_order',
      'search_refund_policy',
      'write_note',
    ]);
    expect([...tools.keys()]).toEqual(manifest);
  });

  test('takes a toolbox record over, with what the case changes', () => {
    const { tools } = caseOf({
      tools: { issue_refund: { approval: { quorum: 2 }, results: [{ error: 'no' }] } },
      expected,
    });
    expect(tools.get('issue_refund')).toMatchObject({
      effect: 'financial',
      idempotency: 'keyed',
      approval: { quorum: 2 },
      timeoutMs: 30_000,
      results: [{ kind: 'error', message: 'no', delayMs: 0 }],
    });
  });

  test('a tool that says nothing of itself reads; one of another server may do anything', () => {
    const { tools } = caseOf({
      tools: { a: {}, b: { kind: 'mcp' }, c: { effect: 'send' } },
      expected,
    });
    expect(tools.get('a')).toMatchObject({ effect: 'read', idempotency: 'natural' });
    expect(tools.get('b')).toMatchObject({ effect: 'unknown', idempotency: 'unknown' });
    expect(tools.get('c')).toMatchObject({ effect: 'send', idempotency: 'unknown' });
  });
});

describe('the kind of a tool', () => {
  test('memory_write of the specification is an ordinary tool', () => {
    const { tools } = caseOf({ tools: { remember: { kind: 'memory_write' } }, expected });
    expect(tools.get('remember')).toMatchObject({ kind: 'tool', effect: 'read' });
  });
});

describe('a script', () => {
  test('repeats a reply without copying it, also nested, also very often', () => {
    const { model } = caseOf({
      model: [
        { repeat: 1_000_000_000, reply: { repeat: 1_000_000_000, reply: { text: 'again' } } },
      ],
      expected,
    });
    expect(model).toHaveLength(1);
    expect(replyAt(model, 999_999_999)).toMatchObject({ text: 'again' });
    const short = caseOf({
      model: [{ repeat: 2, reply: { repeat: 3, reply: { text: 'a' } } }, { text: 'b' }],
      expected,
    }).model;
    const texts = [0, 5, 6, 7].map((position) => {
      const reply = replyAt(short, position);
      return reply?.kind === 'answer' ? reply.text : reply;
    });
    expect(texts).toEqual(['a', 'a', 'b', undefined]);
  });

  test('tool results go on with the last ok, else with the last', () => {
    const { tools } = caseOf({
      tools: {
        a: { results: [{ ok: 1 }, { ok: 2 }, { error: 'x' }] },
        b: { results: [{ error: 'x' }, { timeout: true }] },
        c: {},
      },
      expected,
    });
    const of = (name: string, attempt: number) =>
      resultOf(tools.get(name) ?? { results: [] }, attempt);
    expect([of('a', 0), of('a', 2), of('a', 3)]).toMatchObject([
      { value: 1 },
      { kind: 'error' },
      { value: 2 },
    ]);
    expect([of('b', 1), of('b', 9)]).toMatchObject([{ kind: 'timeout' }, { kind: 'timeout' }]);
    expect(of('c', 0)).toBeUndefined();
  });
});

describe('the oldest form', () => {
  const converted = parseFixture(JSON.stringify(OLDEST_FORM), FILE);

  test('mocked tools are tools with results', () => {
    expect(converted.manifest).toEqual(['carrier.track']);
    expect(converted.tools.get('carrier.track')).toMatchObject({
      effect: 'read',
      results: [
        { kind: 'retryable_error', reason: 'gateway', delayMs: 0 },
        { kind: 'retryable_error', reason: 'gateway', delayMs: 0 },
      ],
    });
    expect(converted.task).toMatchObject({ goal: OLDEST_FORM.goal, taskId: 'slow_carrier' });
  });

  test('the missing model calls each tool in turn, once per result, and answers', () => {
    const replies = converted.model.map(({ reply }) => reply);
    expect(replies).toMatchObject([
      { calls: [{ id: 'call_1', tool: 'carrier.track' }] },
      { calls: [{ id: 'call_2', tool: 'carrier.track' }] },
      { calls: [], text: expect.any(String), stopReason: 'end_turn' },
    ]);
  });

  test('its calls have arguments that the tool takes', () => {
    const { model } = caseOf({
      mocked_tools: { issue_refund: [{ status: 'ok', output: {} }], read_order: [{ ok: 1 }] },
      expected,
    });
    expect(model.map(({ reply }) => reply)).toMatchObject([
      { calls: [{ input: { order: expect.stringMatching(/\S/), amount: 1 } }] },
      { calls: [{ input: { orderId: expect.stringMatching(/\S/) } }] },
      { calls: [] },
    ]);
  });

  test('a model of its own is kept', () => {
    const { model } = caseOf({
      mocked_tools: { t: [{ ok: 1 }] },
      model: [{ text: 'x' }],
      expected,
    });
    expect(model).toHaveLength(1);
  });

  test('every status has its form', () => {
    const { tools } = caseOf({
      mocked_tools: {
        t: [
          { status: 'ok', output: { a: 1 } },
          { status: 'ok' },
          { status: 'error', reason: 'broken' },
          { status: 'error' },
        ],
      },
      expected,
    });
    expect(tools.get('t')?.results).toEqual([
      { kind: 'ok', value: { a: 1 }, delayMs: 0 },
      { kind: 'ok', value: null, delayMs: 0 },
      { kind: 'error', message: 'broken', delayMs: 0 },
      { kind: 'error', message: 'error', delayMs: 0 },
    ]);
  });
});

test('what happens from outside is told apart by its kind', () => {
  const { during, needsVirtualTime } = caseOf({
    during: [
      { on: { start: true }, do: { cancel: true } },
      { on: { modelCall: 2, at: 'before' }, do: [{ advance: '90s' }, { userMessage: 'hi' }] },
      {
        on: { event: 'approval_requested', call: 'a' },
        do: { resolveApproval: { decision: 'approve', by: 'mia' } },
        times: 3,
      },
      { on: { event: 'stop' }, do: { setMaxThinkingTokens: null } },
    ],
    expected,
  });
  expect(during).toEqual([
    { on: { kind: 'start' }, actions: [{ kind: 'cancel' }], times: 1 },
    {
      on: { kind: 'modelCall', number: 2, at: 'before' },
      actions: [
        { kind: 'advance', ms: 90_000 },
        { kind: 'userMessage', text: 'hi' },
      ],
      times: 1,
    },
    {
      on: { kind: 'event', pattern: { event: 'approval_requested', call: 'a' } },
      actions: [{ kind: 'resolveApproval', decision: 'approve', by: 'mia' }],
      times: 3,
    },
    {
      on: { kind: 'event', pattern: { event: 'stop' } },
      actions: [{ kind: 'setMaxThinkingTokens', tokens: null }],
      times: 1,
    },
  ]);
  expect(needsVirtualTime).toBe(true);
  expect(caseOf({ expected }).needsVirtualTime).toBe(false);
});

test('sessions and summaries are spelled out', () => {
  const { sessions, compaction } = caseOf({
    sessions: [
      {
        id: 's',
        messages: [
          { user: 'hi' },
          { assistant: { text: 'x' } },
          { results: { a: { status: 'ok', output: 1 } } },
        ],
      },
    ],
    compaction: [{ tokens: 5 }, { error: 'no' }],
    expected,
  });
  expect(sessions).toMatchObject([
    {
      id: 's',
      reactiveCompacted: false,
      messages: [
        { kind: 'user', text: 'hi' },
        { kind: 'assistant', reply: { text: 'x', stopReason: 'end_turn' } },
        { kind: 'results', results: new Map([['a', { kind: 'ok', value: 1, delayMs: 0 }]]) },
      ],
    },
  ]);
  expect(compaction).toEqual([
    {
      kind: 'summary',
      tokens: 5,
      usage: { input: 1_000, output: 100, cacheRead: 0, cacheWrite: 0 },
    },
    { kind: 'error', message: 'no' },
  ]);
});
