/** Tools that the model's vendor runs itself (G48, S166). */
import type { HostedCall, Reply } from '../../../core/state/model.js';
import {
  call,
  calls,
  says,
  tool,
  TOOLBOX,
  usage,
  type ModelReply,
  type Script,
} from '../script.js';
import {
  createShell,
  codesOf,
  executedOf,
  finish,
  ofType,
  requestsOf,
  send,
  started,
  tick,
  until,
  warningsOf,
  type Shell,
} from '../shell.js';

const BOUND = { inputTokens: 10_000, uses: 3, feeMicroUsd: 10_000 };
const SEARCH = tool('search', { kind: 'hosted', hosted: BOUND });
const NO_SEARCH = TOOLBOX.map(({ name }) => name);

function searching(script: Script): Shell {
  return createShell({ tools: [...TOOLBOX, SEARCH], ...script });
}

/** What the first request offers; undefined: everything. */
function offeredBy(script: Partial<Script>): readonly string[] | undefined {
  const shell = searching({ model: [says('42')], ...script });
  finish(shell);
  return requestsOf(shell)[0]?.offered;
}

function used(id: string, more: Partial<HostedCall> = {}): HostedCall {
  return {
    id,
    tool: 'search',
    args: { text: '{}' },
    isError: false,
    content: { text: '[]' },
    ...more,
  };
}

function saysAfter(hosted: NonNullable<Reply['hosted']>): ModelReply {
  return says('Found.', { hosted });
}

describe('a hosted tool is offered', () => {
  test('where every call of it is allowed', () => {
    expect(offeredBy({})).toBeUndefined();
    const when = { path: 'query', exists: true };
    const policy = [
      { tool: 'search', decision: 'allow', when },
      { tool: '*', decision: 'allow' },
      { tool: 'search', decision: 'deny' },
    ] as const;
    expect(offeredBy({ policy })).toBeUndefined();
  });

  test.each<[string, Partial<Script>]>([
    ['the task forbids it', { task: { forbiddenActions: ['search'] } }],
    ['it is switched off', { settings: { disallowedTools: ['sea*'] } }],
    ['the policy denies it', { policy: [{ tool: 'search', decision: 'deny' }] }],
    ['the policy wants a person asked', { policy: [{ tool: 'search', decision: 'ask' }] }],
    [
      'the policy denies some of its calls',
      { policy: [{ tool: 'search', decision: 'deny', when: { path: 'query', equals: 'x' } }] },
    ],
  ])('not where %s', (_, script) => {
    expect(offeredBy(script)).not.toContain('search');
  });

  test.each<[string, Parameters<typeof tool>[1]]>([
    ['needs an approval', { effect: 'send', approval: { roles: [], quorum: 1 } }],
    ['does nobody knows what', { effect: 'unknown', approval: 'by_policy' }],
  ])('not when it %s', (_, record) => {
    const risky = tool('search', { ...record, kind: 'hosted', hosted: BOUND });
    expect(offeredBy({ tools: [...TOOLBOX, risky] })).toEqual(NO_SEARCH);
  });

  test('no more once the mode only plans, when it changes something', () => {
    const coder = tool('search', { effect: 'execute', kind: 'hosted', hosted: BOUND });
    const shell = createShell({
      tools: [...TOOLBOX, coder],
      model: [calls(call('a', 'read_order')), says('42')],
    });
    until(shell, 'tool_started');
    send(shell, { type: 'set_permission_mode', mode: 'plan' });
    finish(shell);
    expect(requestsOf(shell).map(({ offered }) => offered)).toEqual([undefined, NO_SEARCH]);
  });

  test('never for a summary', () => {
    const shell = searching({
      model: [calls(call('a', 'read_order')), says('42')],
      contextWindow: 1_100,
    });
    while (started(shell, 'compact').length === 0 && tick(shell));
    expect(started(shell, 'compact')[0]?.input.offered).toEqual(NO_SEARCH);
  });
});

describe('what it may cost', () => {
  test('is reserved before the request leaves, and the reply may use that much less', () => {
    const plain = createShell({ model: [says('42')] });
    const shell = searching({ model: [says('42')] });
    for (const one of [plain, shell]) finish(one);
    const [bare, bound] = [plain, shell].map((one) => requestsOf(one)[0]!.bound);
    expect(bound).toEqual({
      inputTokens: bare!.inputTokens + 10_000,
      costMicroUsd: bare!.costMicroUsd + 10_000 * 3.75 + 30_000,
      fees: { each: { search: 10_000 }, most: 30_000 },
    });
    expect(bare).not.toHaveProperty('fees');
  });

  test('keeps a request back that it would not fit', () => {
    const budget = { maxCostMicroUsd: 60_000 };
    expect(finish(searching({ model: [says('42')], budget })).stopReason).toBe('max_cost');
    expect(finish(createShell({ model: [says('42')], budget })).completed).toBe(true);
  });

  test('is paid with the reply', () => {
    const hosted = { calls: [used('h')], unlisted: 0, feesMicroUsd: 10_000 };
    const { reply } = saysAfter(hosted);
    const shell = searching({ model: [{ reply: { ...reply, ...usage(1_000, 100) } }] });
    expect(finish(shell).costMicroUsd).toBe(3_000 + 1_500 + 10_000);
    expect(ofType(shell, 'model_response')[0]?.costMicroUsd).toBe(14_500);
  });
});

describe('what it did', () => {
  test('is told as an observation, counts as no call and has no result of ours', () => {
    const hosted = {
      calls: [used('h'), used('i', { isError: true })],
      unlisted: 2,
      feesMicroUsd: 0,
    };
    const shell = searching({ model: [saysAfter(hosted)] });
    expect(finish(shell)).toMatchObject({
      stopReason: 'completed',
      counters: { proposedCalls: 0, toolCalls: 0, toolAttempts: 0, modelCalls: 1 },
    });
    expect(ofType(shell, 'tool_finished')).toMatchObject([
      {
        callId: 'h',
        tool: 'search',
        hosted: true,
        status: 'ok',
        args: { text: '{}' },
        started: false,
      },
      { callId: 'i', hosted: true, status: 'error', code: 'execution_error' },
    ]);
    expect(executedOf(shell)).toEqual([]);
    expect(warningsOf(shell)).toEqual(['hosted_calls_unlisted']);
  });

  test('is evidence when it succeeded', () => {
    const task = { requiredEvidence: [{ id: 'found', satisfiedBy: 'search' }] };
    const reply = (isError: boolean) =>
      saysAfter({ calls: [used('h', { isError })], unlisted: 0, feesMicroUsd: 0 });
    expect(finish(searching({ task, model: [reply(false)] })).stopReason).toBe('completed');
    expect(finish(searching({ task, model: [reply(true), reply(true)] })).stopReason).toBe(
      'evidence_missing',
    );
  });

  test('a call of it that comes to us is refused', () => {
    const shell = searching({ model: [calls(call('a', 'search')), says('42')] });
    expect(finish(shell).counters).toMatchObject({ invalidCalls: 1, toolCalls: 0 });
    expect(codesOf(shell)).toEqual({ a: 'unknown_tool' });
  });
});
