import { contextTokens } from '../../../core/step/conversation.js';
import type { Reply } from '../../../core/state/model.js';
import {
  call,
  calls,
  failure,
  says,
  usage,
  withReply,
  type ModelEntry,
  type ModelReply,
  type Script,
} from '../script.js';
import {
  answer,
  createShell as createShellOf,
  crossSegment,
  finish,
  ofType,
  requestsOf,
  send,
  settle,
  started,
  tick,
  transitionsOf,
  until,
  warningsOf,
  type Shell,
} from '../shell.js';
import { lettersOf } from '../transcript.js';

function cut(text: string, tokens: number): ModelReply {
  return says(text, { stop: 'max_tokens', ...usage(tokens - 100, 100) });
}

function reads(id: string, tokens: number): ModelReply {
  return withReply(calls(call(id, 'read_order', { orderId: id })), usage(tokens - 100, 100));
}

const TOO_LONG: ModelEntry = failure('PromptTooLong', { details: { lostCostMicroUsd: 0 } });

/** Replies are billed for large prompts, so one is sent. */
function createShell(script: Script): Shell {
  return createShellOf({ promptBytes: 200_000, ...script });
}

function ended(script: Script): Shell {
  const shell = createShell(script);
  finish(shell);
  return shell;
}

function counters(shell: Shell) {
  return finish(shell).counters;
}

describe('a reply that was cut off in a full context', () => {
  test('S83: is asked for again after a compaction, without a prompt', () => {
    const shell = ended({ model: [cut('part', 170_000), says('all of it')] });
    expect(finish(shell)).toMatchObject({
      stopReason: 'completed',
      answer: { text: 'all of it' },
      counters: {
        compactions: { proactive: 0, reactive: 1 },
        recoveryCount: 0,
        modelCalls: 2,
        turnCount: 1,
      },
    });
    expect(transitionsOf(shell)).toEqual(['max_tokens_compact_retry']);
    expect(ofType(shell, 'compact_boundary')).toMatchObject([
      { trigger: 'reactive', preTokens: 170_000, postTokens: 1_000 },
    ]);
    expect(started(shell, 'compact')[0]?.input).toMatchObject({
      number: 1,
      trigger: 'reactive',
      dropped: 'run_1:m1',
      messageId: 'run_1:m2',
      preTokens: 170_000,
    });
    expect(requestsOf(shell)[1]).toMatchObject({ append: [] });
    expect(requestsOf(shell)[1]?.head).toContain('compacted');
    expect(lettersOf(shell.transcript)).toBe('U U A');
  });

  test('S84: with nothing left of it, is asked for again as well', () => {
    const nothing: Reply = {
      calls: [],
      stop: 'max_tokens',
      ...usage(170_000, 0),
      model: 'model',
    };
    const shell = ended({ model: [{ reply: nothing }, says('ok')] });
    expect(transitionsOf(shell)).toEqual(['max_tokens_compact_retry']);
    expect(started(shell, 'compact')[0]?.input.dropped).toBeUndefined();
  });

  test('S87: is continued when no compaction helps, then stops', () => {
    const model = ['a', 'b', 'c', 'd'].map((text) => cut(text, 170_000));
    const compactions = [{ tokens: 170_000 }];
    const shell = ended({ model, compactions, budget: { maxOutputRecoveries: 1 } });
    expect(finish(shell)).toMatchObject({
      stopReason: 'max_tokens',
      completed: false,
      partialOutput: { text: 'ab' },
      counters: { compactions: { reactive: 0 }, recoveryCount: 1 },
    });
    expect(transitionsOf(shell)).toEqual(['max_output_tokens_recovery']);
    expect(warningsOf(shell)).toContain('not_compacted');
    expect(ofType(shell, 'compact_boundary')).toEqual([]);
  });

  test.each([
    ['max_cost', { maxCostMicroUsd: 500_000 }],
    ['max_turns', { maxTurns: 1 }],
    ['timeout', { timeoutMs: 2 }],
  ] as const)('stops %s before it pays for a compaction', (reason, budget) => {
    const model = [cut('a', 170_000), says('b')];
    const shell = createShell({ model, budget, promptBytes: 100_000 });
    expect(finish(shell)).toMatchObject({ stopReason: reason, partialOutput: { text: 'a' } });
    expect(started(shell, 'compact')).toEqual([]);
  });

  test('goes on without a compaction that the budget has no room for', () => {
    const budget = { maxCostMicroUsd: 600_000 };
    const model = [cut('a', 170_000), says('b')];
    const shell = createShell({ model, budget, promptBytes: 150_000 });
    expect(finish(shell).stopReason).toBe('max_cost');
    expect(started(shell, 'compact')).toEqual([]);
    expect(transitionsOf(shell)).toEqual(['max_output_tokens_recovery']);
  });

  test('does not give back the recoveries that were used before', () => {
    const model = [cut('a', 150_000), cut('b', 170_000), cut('c', 1_000), says('d')];
    expect(counters(ended({ model })).recoveryCount).toBe(2);
  });
});

describe('a prompt that is too long', () => {
  test('S90: is compacted and asked again; the failed call does not count', () => {
    const shell = ended({ model: [TOO_LONG, says('ok')] });
    expect(finish(shell)).toMatchObject({
      stopReason: 'completed',
      counters: { modelCalls: 1, compactions: { proactive: 0, reactive: 1 } },
    });
    expect(transitionsOf(shell)).toEqual(['reactive_compact_retry']);
    expect(ofType(shell, 'model_error')).toMatchObject([{ class: 'PromptTooLong' }]);
    expect(requestsOf(shell)).toHaveLength(2);
    expect(requestsOf(shell)[1]?.append).toEqual([]);
  });

  test('S91: again after the compaction stops the run', () => {
    const result = finish(createShell({ model: [TOO_LONG, TOO_LONG, says('late')] }));
    expect(result).toMatchObject({
      stopReason: 'prompt_too_long',
      counters: { compactions: { reactive: 1 }, modelCalls: 0 },
    });
    expect(result.nextSafeAction).toBeDefined();
  });

  test('stops the run when nothing can be made of it', () => {
    const gone = failure('InvalidRequest');
    const shell = ended({ model: [TOO_LONG, says('late')], compactions: [gone] });
    expect(finish(shell).stopReason).toBe('prompt_too_long');
    expect(warningsOf(shell)).toEqual(['not_compacted']);
    expect(lettersOf(shell.transcript)).toBe('U');
  });

  test('stops the run at once when no reactive compaction is allowed', () => {
    const budget = { maxReactiveCompactions: 0 };
    const shell = ended({ model: [TOO_LONG, says('late')], budget });
    expect(finish(shell).stopReason).toBe('prompt_too_long');
    expect(started(shell, 'compact')).toEqual([]);
  });

  test('may be compacted as often as the budget says, whoever asks for it', () => {
    const budget = { maxReactiveCompactions: 2 };
    const model = [cut('a', 170_000), TOO_LONG, TOO_LONG, says('late')];
    expect(finish(createShell({ model, budget }))).toMatchObject({
      stopReason: 'prompt_too_long',
      counters: { compactions: { reactive: 2 } },
    });
  });

  test('says which limit kept it from being compacted', () => {
    const budget = { maxCostMicroUsd: 100 };
    const details = { budget: 'max_output_tokens' };
    const exhausted = failure('BudgetExhausted', { details });
    const model = [TOO_LONG, says('late')];
    expect(finish(createShell({ model, compactions: [exhausted] })).stopReason).toBe(
      'max_output_tokens',
    );
    expect(finish(createShell({ model, budget })).stopReason).toBe('max_cost');
    const slow = failure('Internal', { timedOut: true });
    const short = createShell({ model, budget: { timeoutMs: 900 }, compactions: [slow] });
    expect(finish(short).stopReason).toBe('timeout');
  });

  test.each([
    ['before it leaves', { maxCostMicroUsd: 400_000 }, []],
    ['while it is made', {}, [failure('BudgetExhausted', { details: { budget: 'max_cost' } }), {}]],
  ])('is compacted after all when a person allows more: %s', (_, budget, compactions) => {
    const settings = { onBudget: 'ask' } as const;
    const model = [reads('a', 60_000), TOO_LONG, says('ok')];
    const script = { model, budget, compactions, settings, promptBytes: 70_000 };
    const shell = settle(createShell(script));
    answer(shell, { amount: 1_000_000 });
    expect(finish(shell)).toMatchObject({
      stopReason: 'completed',
      counters: { compactions: { reactive: 1 } },
    });
    expect(transitionsOf(shell)).toEqual(['next_turn', 'reactive_compact_retry']);
  });

  test('S93: the guard survives into the next segment', () => {
    const model = [TOO_LONG, reads('a', 1_000), TOO_LONG, says('late')];
    const shell = createShell({ model });
    until(shell, 'transition', { reason: 'reactive_compact_retry' });
    crossSegment(shell);
    expect(finish(shell)).toMatchObject({
      stopReason: 'prompt_too_long',
      counters: { compactions: { reactive: 1 } },
    });
    expect(started(shell, 'compact')).toHaveLength(1);
  });

  test('a compaction that ends with its segment is acted upon in the next', () => {
    const shell = createShell({ model: [TOO_LONG, says('ok')] });
    while (started(shell, 'compact').length === 0) tick(shell);
    crossSegment(shell);
    expect(finish(shell).completed).toBe(true);
    expect(transitionsOf(shell)).toEqual(['continued_as_new', 'reactive_compact_retry']);
  });
});

describe('a conversation that approaches its window', () => {
  const BUSY: Script = { model: [reads('a', 162_000), says('ok')] };

  test('S88: is compacted before the next call, which goes on under the new head', () => {
    const shell = ended(BUSY);
    expect(counters(shell)).toMatchObject({
      compactions: { proactive: 1, reactive: 0 },
      modelCalls: 2,
    });
    expect(transitionsOf(shell)).toEqual(['next_turn', 'proactive_compact']);
    expect(ofType(shell, 'compact_boundary')).toMatchObject([{ trigger: 'auto' }]);
    expect(started(shell, 'compact')[0]?.input.append).toMatchObject([{ kind: 'results' }]);
    expect(requestsOf(shell)[1]?.append).toEqual([]);
  });

  test('is left alone at the threshold, and with room for what is new', () => {
    expect(started(ended({ model: [reads('a', 159_000), says('ok')] }), 'compact')).toEqual([]);
  });

  test('counts what was appended since the last reply', () => {
    const model = [reads('a', 159_000), says('ok')];
    const outcomes = { read_order: [{ ok: 'x'.repeat(4_000) }] };
    expect(started(ended({ model, outcomes }), 'compact')).toHaveLength(1);
  });

  test('is not compacted twice within two model calls', () => {
    const model = ['a', 'b', 'c', 'd', 'e'].map((id) => reads(id, 170_000));
    const shell = ended({ model: [...model, says('ok')] });
    const requests = started(shell, 'compact').map((effect) => shell.effects.indexOf(effect));
    const calledBefore = requests.map(
      (at) => shell.effects.slice(0, at).filter((one) => one.kind === 'call_model').length,
    );
    expect(calledBefore).toEqual([1, 3, 5]);
    expect(counters(shell).compactions.proactive).toBe(3);
  });

  test('goes on as it is when a compaction gains too little, and is not tried again at once', () => {
    const compactions = [{ tokens: 150_000 }];
    const shell = ended({ model: [reads('a', 170_000), says('ok')], compactions });
    expect(finish(shell)).toMatchObject({
      stopReason: 'completed',
      counters: { compactions: { proactive: 0 } },
    });
    expect(started(shell, 'compact')).toHaveLength(1);
    expect(transitionsOf(shell)).toEqual(['next_turn']);
    expect(lettersOf(shell.transcript)).toBe('U A R A');
  });

  test('leaves the guard against spirals to what cannot wait', () => {
    const model = [reads('a', 170_000), reads('b', 1_000), TOO_LONG, says('ok')];
    expect(counters(ended({ model })).compactions).toEqual({ proactive: 1, reactive: 1 });
  });

  test('ends before a request that cannot succeed, when no compaction is left', () => {
    const budget = { maxReactiveCompactions: 0 };
    const model = [reads('a', 200_100), says('late')];
    const failed = [failure('InvalidRequest')];
    const shell = ended({ model, budget, compactions: failed });
    expect(finish(shell).stopReason).toBe('prompt_too_long');
    expect(requestsOf(shell)).toHaveLength(1);
  });

  test('is judged by all tokens used since the last one, when the setting says so', () => {
    const settings = { compactionMetric: 'cumulative' } as const;
    const model = ['a', 'b', 'c', 'd'].map((id) => reads(id, 60_000));
    const shell = ended({ model: [...model, says('ok')], settings });
    expect(started(shell, 'compact')).toHaveLength(1);
    expect(requestsOf(shell)[3]?.head).toContain('compacted');
  });

  test('a message that waits for an idle run is read after the compaction', () => {
    const settings = { afterAnswer: 'await_user' } as const;
    const first = withReply(says('hello'), usage(170_000, 100));
    const shell = createShell({ settings, model: [first, says('again')] });
    while (tick(shell));
    expect(started(shell, 'compact')).toEqual([]);
    send(shell, { type: 'user_message', text: 'more' });
    while (tick(shell));
    expect(started(shell, 'compact')).toHaveLength(1);
    expect(requestsOf(shell)[1]?.append).toMatchObject([{ content: { text: 'more' } }]);
  });
});

describe('what a compaction costs', () => {
  test('is reserved before it leaves, and counts', () => {
    const shell = createShell({
      model: [TOO_LONG, says('ok')],
      compactions: [{ ...usage(100_000, 1_000) }],
    });
    while (started(shell, 'compact').length === 0) tick(shell);
    const [effect] = started(shell, 'compact');
    expect(shell.run.money.reserved).toEqual({
      [effect?.id ?? '']: effect?.input.bound.costMicroUsd,
    });
    expect(effect?.input.maxTokens).toBe(8_192);
    expect(counters(shell)).toMatchObject({
      modelCalls: 1,
      usage: { input: 101_000, output: 1_100 },
      costMicroUsd: 100_000 * 3 + 1_000 * 15 + 1_000 * 3 + 100 * 15,
    });
  });

  test('counts with its whole bound when nobody says what it was', () => {
    const lost = failure('Internal');
    const shell = createShell({ model: [TOO_LONG], compactions: [lost], accounts: [lost] });
    while (started(shell, 'compact').length === 0) tick(shell);
    const bound = started(shell, 'compact')[0]?.input.bound.costMicroUsd;
    expect(counters(shell).costMicroUsd).toBe(bound);
  });

  test('bounds the next request by what the conversation can have at most', () => {
    const shell = ended({ model: [reads('a', 170_000), says('ok')] });
    const bound = requestsOf(shell)[1]?.bound.inputTokens ?? 0;
    expect(bound).toBeGreaterThanOrEqual(170_000);
  });
});

describe('a person stops the run during a compaction', () => {
  test.each(['interrupt', 'cancel_requested'] as const)('S141: %s', (type) => {
    const shell = createShell({ model: [TOO_LONG, says('late')] });
    while (started(shell, 'compact').length === 0) tick(shell);
    const [effect] = started(shell, 'compact');
    send(shell, { type });
    expect(shell.effects).toContainEqual({ kind: 'cancel', target: effect?.id });
    expect(finish(shell)).toMatchObject({ status: 'cancelled', phase: 'before_model' });
    expect(shell.run.money.reserved).toEqual({});
    expect(lettersOf(shell.transcript)).toBe('U');
  });
});

describe('pinned evidence', () => {
  const requiredEvidence = [{ id: 'order', satisfiedBy: 'read_order' }];

  test('S88: is said word for word beside the summary, the newest of each tool', () => {
    const outcomes = {
      read_order: [{ ok: 'old' }, { ok: 'paid 42.17' }],
      lookup_order: [{ ok: 1 }],
    };
    const model = [
      reads('a', 150_000),
      withReply(
        calls(call('b', 'read_order', { orderId: 'b' }), call('c', 'lookup_order')),
        usage(170_000, 1),
      ),
      says('ok'),
    ];
    const shell = ended({ task: { requiredEvidence }, model, outcomes });
    expect(started(shell, 'compact')[0]?.input.pinned).toEqual([
      'What read_order returned:\npaid 42.17',
    ]);
  });

  test('is named by its reference when it lies in the store', () => {
    const stored = { $blob: 'b'.repeat(64), bytes: 50_000, preview: 'beginning' };
    const shell = ended({
      task: { requiredEvidence },
      model: [reads('a', 170_000), says('ok')],
      outcomes: { read_order: [{ stored }] },
    });
    expect(started(shell, 'compact')[0]?.input).toMatchObject({
      pinned: [],
      pinnedRefs: [{ label: 'What read_order returned:', content: { $blob: stored.$blob } }],
    });
  });

  test('takes a bounded place in the run, however many tools are named', () => {
    const many = Array.from({ length: 100 }, (_, index) => ({
      id: `e${index}`,
      satisfiedBy: index === 0 ? 'read_order' : `x_${index}`,
    }));
    const outcomes = { read_order: [{ ok: 'x'.repeat(4_000) }] };
    const model = [reads('a', 1_000), says('ok')];
    const shell = createShell({ task: { requiredEvidence: many }, model, outcomes });
    until(shell, 'tool_finished');
    expect(JSON.stringify(shell.run.pinned).length).toBeLessThan(250);
  });
});

describe('the estimate of a context', () => {
  test('is calibrated by what the provider counted last', () => {
    const text = 'word '.repeat(200);
    const script = (tokens: number): Script => ({
      promptBytes: 4_000,
      model: [reads('a', tokens), says('ok')],
      outcomes: { read_order: [{ ok: text }] },
    });
    const grown = (tokens: number): number => {
      const shell = createShell(script(tokens));
      until(shell, 'tool_results_message');
      return contextTokens(shell.run) - tokens;
    };
    // 4,000 characters of prompt: few tokens each, then many, then more than can be.
    expect(grown(600)).toBeLessThan(grown(1_200));
    expect(grown(1_200)).toBeLessThan(grown(8_000));
    expect(grown(8_000)).toBeLessThanOrEqual(text.length + 200);
  });
});

describe('StopFailure hooks', () => {
  const script = { hookNames: { StopFailure: ['tell'] }, model: [TOO_LONG, says('late')] };
  const toldBy = (shell: Shell) =>
    started(shell, 'run_hooks').map(({ input: { point, payload } }) => ({ point, payload }));
  const overloaded = failure('Overloaded', { details: { attempts: 7, lostCostMicroUsd: 0 } });

  test('are told of an error of the API that kept a summary from being made, as of what was asked for', () => {
    const shell = ended({ ...script, compactions: [overloaded] });
    expect(finish(shell).stopReason).toBe('prompt_too_long');
    const [prompt, summary] = toldBy(shell);
    expect(prompt).toMatchObject({ point: 'StopFailure', payload: { error: 'PromptTooLong' } });
    expect(summary).toEqual({
      point: 'StopFailure',
      payload: {
        error: 'Overloaded',
        message: 'Overloaded happened',
        attempts: 7,
        purpose: 'compaction',
      },
    });
  });

  test.each<[string, ReturnType<typeof failure>]>([
    ['nothing was asked', failure('InvalidRequest', { details: { attempts: 0 } })],
    ['a budget was used up', failure('BudgetExhausted', { details: { budget: 'max_cost' } })],
    ['the conversation was not there', failure('TranscriptMissing')],
    ['a person ended it', failure('Aborted', { cancelled: true })],
  ])('hear nothing of it when %s', (_, compaction) => {
    const shell = ended({ ...script, compactions: [compaction] });
    expect(toldBy(shell)).toHaveLength(1);
  });

  test('heard nothing of it before rules 10', () => {
    const shell = ended({ ...script, compactions: [overloaded], rules: 9 });
    expect(toldBy(shell)).toHaveLength(1);
  });
});
