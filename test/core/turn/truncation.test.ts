import { DEFAULT_SETTINGS } from '../../../core/state/settings.js';
import { call, calls, failure, says, usage, withReply, type Script } from '../script.js';
import {
  createShell,
  executedOf,
  finish,
  ofType,
  requestsOf,
  transitionsOf,
  type Shell,
} from '../shell.js';
import { lettersOf } from '../transcript.js';

function ended(script: Script): Shell {
  const shell = createShell(script);
  expect(finish(shell).completed).toBe(true);
  return shell;
}

function cut(text: string) {
  return says(text, { stop: 'max_tokens' });
}

describe('a reply that was cut off', () => {
  test('S80: is continued by a synthetic prompt', () => {
    const shell = createShell({ model: [cut('part1'), says('part2')] });
    expect(finish(shell)).toMatchObject({
      stopReason: 'completed',
      counters: { recoveryCount: 1 },
    });
    expect(lettersOf(shell.transcript)).toBe('U A U A');
    expect(transitionsOf(shell)).toEqual(['max_output_tokens_recovery']);
    expect(requestsOf(shell)[1]?.append).toMatchObject([
      { kind: 'user', content: { text: DEFAULT_SETTINGS.continuationPrompt }, synthetic: true },
    ]);
  });

  test('S81: is not a completion after three recoveries', () => {
    const model = ['a', 'b', 'c', 'd'].map(cut);
    const result = finish(createShell({ model: [...model, says('late')] }));
    expect(result).toMatchObject({
      stopReason: 'max_tokens',
      completed: false,
      partialOutput: { text: 'abcd' },
      counters: { modelCalls: 4, recoveryCount: 3 },
    });
    expect(result.answer).toBeUndefined();
  });

  test('S84: with nothing left of it, is asked again without a prompt', () => {
    const nothing = {
      reply: { calls: [], stop: 'max_tokens', ...usage(10, 10), model: 'model' },
    } as const;
    const shell = createShell({ model: [nothing, says('ok')] });
    expect(finish(shell).stopReason).toBe('completed');
    expect(lettersOf(shell.transcript)).toBe('U A');
    expect(transitionsOf(shell)).toEqual(['max_output_tokens_recovery']);
  });

  test('with complete calls, has them executed', () => {
    const shell = createShell({
      model: [withReply(calls(call('a', 'read_order')), { stop: 'max_tokens' }), says('ok')],
    });
    expect(finish(shell).stopReason).toBe('completed');
    expect(executedOf(shell)).toHaveLength(1);
    expect(transitionsOf(shell)).toEqual(['next_turn']);
  });

  test('has its recoveries per turn: the next turn counts anew', () => {
    const model = [
      cut('a'),
      cut('b'),
      cut('c'),
      calls(call('x', 'read_order')),
      cut('d'),
      says('e'),
    ];
    expect(finish(createShell({ model }))).toMatchObject({
      stopReason: 'completed',
      counters: { recoveryCount: 1 },
    });
  });

  test('meets the limits at the next top of the loop, after its recovery', () => {
    const shell = createShell({ budget: { maxTurns: 1 }, model: [cut('a'), says('b')] });
    expect(finish(shell)).toMatchObject({ stopReason: 'max_turns', partialOutput: { text: 'a' } });
    expect(transitionsOf(shell)).toEqual(['max_output_tokens_recovery']);
  });
});

describe('maxTokensStrategy', () => {
  const full = { model: [cut('a'), says('b')], contextWindow: 1_200 };

  test('auto: makes room when the context is nearly full, and continues when it is not', () => {
    expect(transitionsOf(ended({ ...full }))).toEqual(['max_tokens_compact_retry']);
    expect(transitionsOf(ended({ ...full, contextWindow: 2_000 }))).toEqual([
      'max_output_tokens_recovery',
    ]);
  });

  test('compact_first: makes room however empty the context is, once', () => {
    const shell = ended({
      model: [cut('a'), cut('b'), says('c')],
      settings: { maxTokensStrategy: 'compact_first' },
    });
    expect(transitionsOf(shell)).toEqual([
      'max_tokens_compact_retry',
      'max_output_tokens_recovery',
    ]);
  });

  test('continue_only: never makes room for it', () => {
    const settings = { maxTokensStrategy: 'continue_only' } as const;
    const budget = { compactionThreshold: 1 };
    expect(transitionsOf(ended({ ...full, settings, budget }))).toEqual([
      'max_output_tokens_recovery',
    ]);
  });

  test('stop: ends the run at once with what there is, but executes complete calls', () => {
    const settings = { maxTokensStrategy: 'stop' } as const;
    const shell = createShell({ model: [cut('a'), says('b')], settings });
    expect(finish(shell)).toMatchObject({ stopReason: 'max_tokens', partialOutput: { text: 'a' } });
    const called = withReply(calls(call('x', 'read_order')), { stop: 'max_tokens' });
    expect(finish(createShell({ model: [called, says('b')], settings })).completed).toBe(true);
  });

  test('a context that the provider calls exceeded counts as full', () => {
    const exceeded = says('a', { stop: 'context_exceeded' });
    expect(transitionsOf(ended({ model: [exceeded, says('b')] }))).toEqual([
      'max_tokens_compact_retry',
    ]);
  });

  test('the continuation is said in the words and the role that the settings choose', () => {
    const settings = { continuationPrompt: 'Weiter.', continuationRole: 'system' } as const;
    const shell = createShell({ model: [cut('a'), says('b')], settings });
    finish(shell);
    expect(requestsOf(shell)[1]?.append).toMatchObject([
      { content: { text: 'Weiter.' }, synthetic: true, asSystem: true },
    ]);
  });
});

describe('a stop reason that nobody knows', () => {
  test('is told, and the blocks of the reply decide', () => {
    const strange = { stop: 'unknown', stopDetail: 'lunch_break' } as const;
    const model = [
      withReply(calls(call('x', 'read_order')), strange),
      withReply(says('ok'), strange),
    ];
    const shell = ended({ model });
    expect(executedOf(shell)).toHaveLength(1);
    expect(ofType(shell, 'warning')).toMatchObject([
      { code: 'unknown_stop_reason', message: 'unknown: lunch_break' },
      { code: 'unknown_stop_reason' },
    ]);
  });
});

describe('a paused turn', () => {
  test('is resumed five times at most', () => {
    const paused = says('searching', { stop: 'pause_turn' });
    const once = createShell({ model: [paused, says('found')] });
    expect(finish(once).stopReason).toBe('completed');
    expect(transitionsOf(once)).toEqual(['pause_turn_resume']);
    const forever = createShell({ model: Array.from({ length: 9 }, () => paused) });
    expect(finish(forever)).toMatchObject({ stopReason: 'max_tokens', detail: 'pause_turn' });
    expect(requestsOf(forever)).toHaveLength(6);
  });
});

describe('a model call that failed for good', () => {
  test.each([
    ['AuthError', 'failed', 'model_error:AuthError'],
    ['InvalidRequest', 'failed', 'model_error:InvalidRequest'],
    ['Overloaded', 'failed', 'model_error:Overloaded'],
    ['TranscriptMissing', 'failed', 'model_error:TranscriptMissing'],
    ['ContentRefused', 'refused', 'model_refusal'],
  ] as const)('S98: %s ends the run %s', (code, stopReason, detail) => {
    const shell = createShell({ model: [failure(code), says('late')] });
    const result = finish(shell);
    expect(result.stopReason).toBe(stopReason);
    expect(result.detail).toBe(detail);
    expect(result.nextSafeAction).toBeDefined();
    expect(result.counters.modelCalls).toBe(0);
    expect(requestsOf(shell)).toHaveLength(1);
    expect(ofType(shell, 'model_error')).toMatchObject([{ class: code }]);
  });

  test('a budget that its next attempt did not fit names itself', () => {
    const details = { budget: 'max_output_tokens' };
    const named = createShell({ model: [failure('BudgetExhausted', { details })] });
    expect(finish(named).stopReason).toBe('max_output_tokens');
    const silent = createShell({
      model: [failure('BudgetExhausted', { details: { budget: 'x' } })],
    });
    expect(finish(silent).stopReason).toBe('max_cost');
  });

  test('a time-out of its own is a network failure', () => {
    const shell = createShell({ model: [failure('Internal', { timedOut: true })] });
    expect(finish(shell).detail).toBe('model_error:NetworkTimeout');
  });

  test('what was asked stays in the transcript', () => {
    const shell = createShell({ model: [failure('AuthError')] });
    finish(shell);
    expect(lettersOf(shell.transcript)).toBe('U');
  });
});
