import { CONTINUATION_PROMPT } from '../../core/turn/truncation.js';
import { call, calls, failure, says, usage, withReply } from './script.js';
import { createShell, executedOf, finish, ofType, requestsOf, transitionsOf } from './shell.js';
import { lettersOf } from './transcript.js';

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
      { kind: 'user', content: { text: CONTINUATION_PROMPT }, synthetic: true },
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
    ['PromptTooLong', 'prompt_too_long', undefined],
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

  test('a context that is full by the provider’s count ends the run before the request', () => {
    const first = withReply(calls(call('a', 'read_order')), usage(11_000, 10));
    const shell = createShell({ contextWindow: 11_000, model: [first, says('late')] });
    expect(finish(shell).stopReason).toBe('prompt_too_long');
    expect(requestsOf(shell)).toHaveLength(1);
  });
});
