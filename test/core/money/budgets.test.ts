import { CHANGES } from '../../../core/step/changes.js';
import { NO_USAGE } from '../../../core/state/model.js';
import { boundMicroUsd } from '../../../core/money/budget.js';
import { CALLS_KEPT_MAX, CALLS_MAX, surplusResult } from '../../../core/step/conversation.js';
import {
  call,
  calls,
  failure,
  frozenOf,
  says,
  usage,
  withReply,
  type ModelEntry,
} from '../script.js';
import {
  codesOf,
  createShell,
  executedOf,
  finish,
  ofType,
  pass,
  requestsOf,
  resultOf,
  settle,
  started,
  transitionsOf,
  until,
  warningsOf,
} from '../shell.js';
import { lettersOf } from '../transcript.js';

/** Endless different reads. */
function reads(count: number): readonly ModelEntry[] {
  return Array.from({ length: count }, (_, index) =>
    calls(call(`c${index}`, 'read_order', { orderId: String(index) })),
  );
}
const PRICES = frozenOf({ model: [] }).route.prices;

test('a bound that counts in the place of a strange figure is told of', () => {
  const model = [says('x', { ...usage(1_000, 100), usageDefect: 'input -10' })];
  const shell = createShell({ model });
  expect(finish(shell).costMicroUsd).toBe(4_500);
  expect(warningsOf(shell)).toEqual(['usage_unreadable']);
});

test('what the vendor never sent of a reply is told of, and the rest decides', () => {
  const model = [says('x', { missing: 'item 1 of the response' })];
  const shell = createShell({ model });
  expect(finish(shell)).toMatchObject({ status: 'completed' });
  expect(ofType(shell, 'warning')).toMatchObject([
    { code: 'reply_incomplete', message: expect.stringContaining('item 1 of the response') },
  ]);
});

test('the bound of a request covers the results of calls that were not made', () => {
  const numbered = Array.from({ length: CALLS_MAX }, (_, index) =>
    call(`c${index}`, 'read_order', { orderId: String(index) }),
  );
  const second = (surplus?: number) => {
    const made = calls(...numbered);
    const reply = surplus === undefined ? made : withReply(made, { surplus });
    const shell = createShell({ model: [reply, says('x')] });
    finish(shell);
    return requestsOf(shell)[1]!.bound.inputTokens;
  };
  const { content } = surplusResult('');
  const more = second(10) - second();
  expect(more).toBeGreaterThan(10 * ('text' in content ? content.text.length : 0));
  // What is not even kept has no result.
  expect(second(10_000) - second()).toBe((more / 10) * (CALLS_KEPT_MAX - CALLS_MAX));
});

describe('turns and calls', () => {
  test('S57: maxTurns 3 makes three requests and pairs all calls', () => {
    const shell = createShell({ budget: { maxTurns: 3 }, model: reads(4) });
    expect(finish(shell)).toMatchObject({ stopReason: 'max_turns', completed: false });
    expect(requestsOf(shell)).toHaveLength(3);
    expect(lettersOf(shell.transcript)).toBe('U A R A R A R');
  });

  test('S58: maxTurns 1 lets a text complete', () => {
    const result = finish(createShell({ budget: { maxTurns: 1 }, model: [says('x')] }));
    expect(result.stopReason).toBe('completed');
  });

  test('S59: maxTurns 0 stops at once, announced all the same', () => {
    const shell = createShell({ budget: { maxTurns: 0 }, model: [says('x')] });
    expect(finish(shell)).toMatchObject({ stopReason: 'max_turns', counters: { modelCalls: 0 } });
    expect(shell.events.map((event) => event.type)).toEqual(['session_init', 'stop', 'run_result']);
    expect(resultOf(shell).budgetOverrun).toBeUndefined();
  });

  test('S60: without a limit of its own a run stops at 20 turns', () => {
    expect(finish(createShell({ model: reads(25) })).counters.modelCalls).toBe(20);
  });

  test('S62: logical turns do not count recoveries', () => {
    const shell = createShell({
      settings: { turnCounting: 'logical' },
      budget: { maxTurns: 1, maxModelCalls: 10 },
      model: [says('a', { stop: 'max_tokens' }), says('end')],
    });
    expect(finish(shell)).toMatchObject({
      stopReason: 'completed',
      counters: { turnCount: 1, modelCalls: 2 },
    });
  });

  test('maxModelCalls caps what logical turns do not', () => {
    const cut = says('a', { stop: 'max_tokens' });
    const shell = createShell({
      settings: { turnCounting: 'logical' },
      budget: { maxTurns: 5, maxModelCalls: 2 },
      model: [cut, cut, cut],
    });
    expect(finish(shell)).toMatchObject({ stopReason: 'max_turns', counters: { modelCalls: 2 } });
  });

  test('S63: maxToolCalls 2 stops before the third request', () => {
    const shell = createShell({ budget: { maxToolCalls: 2 }, model: reads(3) });
    expect(finish(shell)).toMatchObject({
      stopReason: 'max_tool_calls',
      counters: { toolCalls: 2 },
    });
    expect(requestsOf(shell)).toHaveLength(2);
  });

  test('calls of one reply beyond the cap get a result and never run', () => {
    const model = [
      calls(call('a', 'read_order'), call('b', 'read_order'), call('c', 'read_order')),
    ];
    const shell = createShell({ budget: { maxToolCalls: 2 }, model });
    expect(finish(shell).counters).toMatchObject({ toolCalls: 2, notStartedCalls: 1 });
    expect(codesOf(shell)).toEqual({ a: 'ok', b: 'ok', c: 'budget_exceeded' });
  });
});

describe('money', () => {
  test('S68: a reply that crosses the cost leaves its calls unexecuted', () => {
    const dear = withReply(calls(call('a', 'write_note', {})), usage(400_000, 0));
    const shell = createShell({ budget: { maxCostMicroUsd: 1_000_000 }, model: [dear] });
    expect(finish(shell)).toMatchObject({ stopReason: 'max_cost', costMicroUsd: 1_200_000 });
    expect(codesOf(shell)).toEqual({ a: 'budget_exceeded' });
    expect(executedOf(shell)).toEqual([]);
  });

  test('and nobody is asked to approve them', () => {
    const dear = withReply(calls(call('a', 'issue_refund', {})), usage(400_000, 0));
    const shell = createShell({ budget: { maxCostMicroUsd: 1_000_000 }, model: [dear] });
    expect(finish(shell).stopReason).toBe('max_cost');
    expect(ofType(shell, 'approval_requested')).toEqual([]);
  });

  test.each([
    ['complete', 'completed'],
    ['stop', 'max_cost'],
  ] as const)(
    'S69: a final answer that crosses it, policy %s: %s',
    (budgetOverrunPolicy, reason) => {
      const shell = createShell({
        budget: { maxCostMicroUsd: 1_000_000 },
        settings: { budgetOverrunPolicy },
        model: [says('answer', usage(400_000, 0))],
      });
      const result = finish(shell);
      expect(result).toMatchObject({ stopReason: reason, budgetOverrun: true });
      const kept = reason === 'completed' ? result.answer : result.partialOutput;
      expect(kept).toEqual({ text: 'answer' });
    },
  );

  test('a final answer that crosses a token budget is no different', () => {
    const model = [says('answer', usage(100, 100))];
    const script = { budget: { maxOutputTokens: 100 }, model };
    expect(finish(createShell(script))).toMatchObject({
      stopReason: 'completed',
      budgetOverrun: true,
    });
    const strict = { ...script, settings: { budgetOverrunPolicy: 'stop' } as const };
    expect(finish(createShell(strict)).stopReason).toBe('max_output_tokens');
  });

  test('S71: cost is exact and the state shows it while the run goes on', () => {
    const model = [withReply(calls(call('a', 'read_order')), usage(1_000_000, 100_000)), says('x')];
    const shell = createShell({ budget: { maxTokensPerResponse: 64_000 }, model });
    until(shell, 'model_response');
    expect(shell.run.money.spentMicroUsd).toBe(4_500_000);
    expect(shell.run.tally.usage).toMatchObject({ input: 1_000_000, output: 100_000 });
  });

  test('S74: the last output tokens clamp max_tokens', () => {
    const first = withReply(calls(call('a', 'read_order')), usage(1_000, 800));
    const shell = createShell({ budget: { maxOutputTokens: 1_000 }, model: [first, says('ok')] });
    finish(shell);
    expect(requestsOf(shell).map((request) => request.maxTokens)).toEqual([1_000, 200]);
  });

  test('fewer output tokens than are useful start no request', () => {
    const settings = { minOutputTokens: 201 };
    const first = withReply(calls(call('a', 'read_order')), usage(1_000, 800));
    const budget = { maxOutputTokens: 1_000 };
    const shell = createShell({ budget, settings, model: [first, says('late')] });
    expect(finish(shell).stopReason).toBe('max_output_tokens');
    expect(requestsOf(shell)).toHaveLength(1);
  });

  test('money clamps max_tokens to what is left after the prompt', () => {
    const shell = createShell({ budget: { maxCostMicroUsd: 10_000 }, model: [says('ok')] });
    finish(shell);
    const { bound, maxTokens } = requestsOf(shell)[0]!;
    expect(bound.costMicroUsd).toBeLessThanOrEqual(10_000);
    expect(boundMicroUsd(bound.inputTokens, maxTokens + 1, PRICES)).toBeGreaterThan(10_000);
  });

  test('the reservation is the bound while the call is under way, and gone after it', () => {
    const shell = createShell({ model: [says('ok')] });
    until(shell, 'session_init');
    const [effect] = started(shell, 'call_model');
    expect(shell.run.money.reserved).toEqual({ [effect!.id]: effect!.input.bound.costMicroUsd });
    finish(shell);
    expect(shell.run.money.reserved).toEqual({});
  });

  test('a request leaves exactly at the limit and not one micro-USD below it', () => {
    const probe = createShell({ settings: { minOutputTokens: 100 }, model: [says('ok')] });
    finish(probe);
    const { inputTokens } = requestsOf(probe)[0]!.bound;
    const least = boundMicroUsd(inputTokens, 100, PRICES);
    const settings = { minOutputTokens: 100 };
    const at = createShell({
      settings,
      budget: { maxCostMicroUsd: least },
      model: [says('ok', usage(1, 1))],
    });
    expect(finish(at).stopReason).toBe('completed');
    expect(requestsOf(at)[0]).toMatchObject({ maxTokens: 100, bound: { costMicroUsd: least } });
    const below = createShell({ settings, budget: { maxCostMicroUsd: least - 1 }, model: [] });
    expect(finish(below)).toMatchObject({ stopReason: 'max_cost', costMicroUsd: 0 });
  });

  test('a prompt may leave until its tokens are used up: nobody can count them beforehand', () => {
    const turn = withReply(calls(call('a', 'read_order')), usage(1_000, 100));
    const shell = createShell({
      budget: { maxInputTokens: 1_001 },
      model: [turn, turn, says('late')],
    });
    expect(finish(shell)).toMatchObject({
      stopReason: 'max_input_tokens',
      counters: { modelCalls: 2, toolCalls: 1, notStartedCalls: 1 },
    });
    const none = createShell({ budget: { maxInputTokens: 0 }, model: [says('ok')] });
    expect(finish(none).stopReason).toBe('max_input_tokens');
    expect(requestsOf(none)).toEqual([]);
  });

  test('a bill above the bound that the budget bears is told, and the run goes on', () => {
    const dear = withReply(calls(call('a', 'read_order')), usage(150_000, 0));
    const shell = createShell({ model: [dear, says('ok')] });
    expect(finish(shell).stopReason).toBe('completed');
    expect(warningsOf(shell)).toContain('billed_above_bound');
  });

  test('nothing starts after a bill above the bound that breaks the budget', () => {
    const dear = withReply(calls(call('a', 'read_order')), usage(150_000, 0));
    const shell = createShell({
      budget: { maxCostMicroUsd: 400_000 },
      model: [dear, says('late')],
    });
    expect(finish(shell)).toMatchObject({ stopReason: 'max_cost', budgetOverrun: true });
    expect(executedOf(shell)).toEqual([]);
  });

  test('failed attempts are paid for and are no overrun of one bound', () => {
    const retried = { ...calls(call('a', 'read_order')), attempts: 3, lostCostMicroUsd: 600_000 };
    const shell = createShell({ model: [retried, says('ok')] });
    const result = finish(shell);
    expect(result.stopReason).toBe('completed');
    expect(result.costMicroUsd).toBe(600_000 + 2 * 4_500);
    expect(ofType(shell, 'model_response')[0]?.costMicroUsd).toBe(604_500);
  });

  test('what a failed call cost is counted', () => {
    const details = { lostCostMicroUsd: 77, lostUsage: { input: 5, output: 'x' }, attempts: 4 };
    const shell = createShell({ model: [failure('ServerError', { details })] });
    expect(finish(shell)).toMatchObject({ costMicroUsd: 77, usage: { input: 5, output: 0 } });
    expect(ofType(shell, 'model_error')[0]?.attempts).toBe(4);
  });
});

describe('time', () => {
  test('S72: the run stops when its active time is used up', () => {
    const outcomes = { read_order: [{ ok: 1, delayMs: 600 }] };
    const shell = createShell({ budget: { timeoutMs: 1_000 }, model: reads(3), outcomes });
    const result = finish(shell);
    expect(result).toMatchObject({ stopReason: 'timeout', completed: false });
    expect(ofType(shell, 'run_result')[0]?.result.counters.activeMs).toBe(1_000);
    expect(codesOf(shell)).toEqual({ c0: 'ok', c1: 'timeout' });
  });

  test('a mutating call that the end of time cuts off is unknown, not failed', () => {
    const shell = createShell({
      budget: { timeoutMs: 1_000 },
      model: [calls(call('a', 'write_note', {}))],
      outcomes: { write_note: [{ ok: 1, delayMs: 5_000 }] },
    });
    expect(finish(shell).stopReason).toBe('timeout');
    expect(codesOf(shell)).toEqual({ a: 'outcome_unknown' });
  });

  test('a model call gets no more than what is left', () => {
    const shell = createShell({
      budget: { timeoutMs: 2_000 },
      model: [{ ...says('x'), delayMs: 9_000 }],
    });
    expect(finish(shell).stopReason).toBe('timeout');
    expect(shell.now).toBeLessThanOrEqual(1_000_000 + 2_010);
  });

  test('time that passes in one call is found before the next call of the reply', () => {
    const shell = createShell({
      budget: { timeoutMs: 500 },
      model: [calls(call('a', 'read_order'), call('b', 'read_order'))],
      outcomes: { read_order: [{ ok: 1, delayMs: 498 }] },
    });
    settle(shell);
    pass(shell, 10);
    expect(resultOf(shell).stopReason).toBe('timeout');
    expect(codesOf(shell)).toEqual({ a: 'ok', b: 'budget_exceeded' });
    expect(transitionsOf(shell)).toEqual([]);
  });
});

describe('turns that keep doubling', () => {
  function grown(turns: readonly number[], rules?: number, price = 0): readonly string[] {
    const model = turns.map((tokens, at) =>
      withReply(calls(call(`c${at}`, 'read_order', { orderId: String(at) })), {
        usage: { ...NO_USAGE, cacheRead: tokens },
      }),
    );
    const shell = createShell({
      model: [...model, says('done', usage(0, 0))],
      promptBytes: 200_000,
      contextWindow: 2_000_000,
      budget: { maxCostMicroUsd: 900_000_000, compactionThreshold: 1 },
      ...(rules !== undefined && { rules }),
      outcomes: { read_order: turns.map((_, at) => ({ ok: 1, costMicroUsd: price * 2 ** at })) },
    });
    finish(shell);
    return ofType(shell, 'warning').map(({ code, message }) => `${code}: ${message}`);
  }

  test('in tokens are a warning, once a run', () => {
    expect(grown([5_000, 10_000, 20_000, 40_000, 80_000, 160_000])).toEqual([
      'cost_exploding: the tokens of a turn have doubled 3 times in a row: 5000, 10000, 20000, 40000 tokens',
    ]);
  });

  test('in cost as well, with what tools cost', () => {
    const [first] = grown([0, 0, 0, 0, 0, 0], undefined, 20_000);
    expect(first).toMatch(/^cost_exploding: the cost .*: 0, 20000, 40000, 80000 micro-USD$/);
  });

  test.each([
    ['stay small', [1_000, 2_000, 4_000, 8_000]],
    ['grow by less', [20_000, 39_000, 77_000, 150_000]],
    ['double twice', [10_000, 20_000, 40_000, 40_000]],
    ['shrink between', [40_000, 10_000, 20_000, 40_000]],
  ])('that %s are none', (_, turns) => {
    expect(grown(turns)).toEqual([]);
  });

  test('are none under rules before 10', () => {
    const { since } = CHANGES.growthTold;
    expect(grown([5_000, 10_000, 20_000, 40_000], since - 1)).toEqual([]);
  });
});
