import { type TokenBudget, DEFAULT_TOKEN_BUDGET } from '../../../core/state/token-budget.js';
import { call, calls, says, usage, type ModelEntry, type Script } from '../script.js';
import {
  createShell,
  finish,
  requestsOf,
  send,
  settle,
  transitionsOf,
  type Shell,
} from '../shell.js';

/** Answers of so many output tokens each. */
function answers(...tokens: readonly number[]): readonly ModelEntry[] {
  return tokens.map((output, index) => says(`part ${index + 1}`, usage(1_000, output)));
}

function aiming(changes: Partial<TokenBudget>, script: Pick<Script, 'model'> & Partial<Script>) {
  const tokenBudget = { ...DEFAULT_TOKEN_BUDGET, targetOutputTokens: 10_000, ...changes };
  return createShell({ ...script, settings: { tokenBudget, ...script.settings } });
}

function continuationsOf(shell: Shell): number {
  return transitionsOf(shell).filter((reason) => reason === 'token_budget_continuation').length;
}

test('without a target the first answer is the last', () => {
  const shell = createShell({ model: answers(10) });
  expect(finish(shell)).toMatchObject({ detail: 'final_answer', counters: { modelCalls: 1 } });
});

test('S75: answers are sent back to work until nine tenths of the target', () => {
  const shell = aiming({}, { model: answers(...Array<number>(12).fill(1_000)) });
  expect(finish(shell)).toMatchObject({
    stopReason: 'completed',
    detail: 'token_target',
    answer: { text: 'part 1part 2part 3part 4part 5part 6part 7part 8part 9' },
    counters: { modelCalls: 9, turnCount: 1 },
  });
  expect(continuationsOf(shell)).toBe(8);
  expect(shell.transcript.messages[2]?.text).toMatch(/1000 of 10000 output tokens \(10 %\)/);
});

test('S76: small continuations in a row are diminishing returns', () => {
  const shell = aiming({}, { model: answers(100, 100, 100, 100, 100) });
  expect(finish(shell)).toMatchObject({
    detail: 'diminishing_returns',
    counters: { modelCalls: 4 },
  });
  expect(continuationsOf(shell)).toBe(3);
});

test('S78: a delta of exactly the limit is progress', () => {
  const shell = aiming({}, { model: answers(...Array<number>(19).fill(500)) });
  expect(finish(shell)).toMatchObject({ detail: 'token_target', counters: { modelCalls: 18 } });
});

test('C24: after big deltas two small ones are enough, or as many as is asked for', () => {
  const tokens = [1_000, 1_000, 1_000, 100, 100, 100, 100];
  expect(finish(aiming({}, { model: answers(...tokens) })).counters.modelCalls).toBe(5);
  const prose = aiming({ consecutiveSmallDeltas: 3 }, { model: answers(...tokens) });
  expect(finish(prose).counters.modelCalls).toBe(6);
});

test('one big delta between small ones starts the count again', () => {
  const model = answers(100, 100, 100, 600, 100, 100);
  expect(finish(aiming({}, { model })).counters.modelCalls).toBe(6);
});

test('tokens of tool turns count, and such turns are no continuation', () => {
  const working = { reply: { ...calls(call('a', 'read_order')).reply, ...usage(1_000, 9_500) } };
  const shell = aiming({}, { model: [working, ...answers(10)] });
  expect(finish(shell)).toMatchObject({ detail: 'token_target' });
  expect(continuationsOf(shell)).toBe(0);
});

test.each([
  ['turns', { maxTurns: 2 }],
  ['output tokens', { maxOutputTokens: 2_000 }],
  ['money', { maxCostMicroUsd: 38_000 }],
])('an answer is never lost to a nudge that no budget of %s has room for', (_, budget) => {
  const shell = aiming({}, { budget, model: answers(1_000, 1_000, 1_000) });
  expect(finish(shell)).toMatchObject({
    stopReason: 'completed',
    detail: 'final_answer',
    answer: { text: 'part 1part 2' },
  });
});

test('every question of a conversation has the whole target', () => {
  const shell = aiming(
    { targetOutputTokens: 1_000 },
    { settings: { afterAnswer: 'await_user' }, model: answers(950, 500, 450, 10) },
  );
  settle(shell);
  expect(requestsOf(shell)).toHaveLength(1);
  send(shell, { type: 'user_message', text: 'next' });
  settle(shell);
  expect(requestsOf(shell)).toHaveLength(3);
});

test('Stop hooks judge before the target does', () => {
  const shell = aiming(
    {},
    {
      hookNames: { Stop: ['judge'] },
      hooks: { judge: [{ preventContinuation: true }] },
      model: answers(10),
    },
  );
  expect(finish(shell).stopReason).toBe('stop_hook_prevented');
});
