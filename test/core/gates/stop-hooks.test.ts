import { call, calls, failure, says, type HookEntry, type Script } from '../script.js';
import {
  createShell,
  crossSegment,
  finish,
  ofType,
  requestsOf,
  send,
  settle,
  started,
  transitionsOf,
  until,
  type Shell,
} from '../shell.js';
import { lettersOf } from '../transcript.js';

function judged(entries: readonly HookEntry[], more: Partial<Script> = {}): Shell {
  return createShell({
    hookNames: { Stop: ['judge'] },
    hooks: { judge: entries },
    model: [says('x'), says('y')],
    ...more,
  });
}

function askedOf(shell: Shell) {
  return started(shell, 'run_hooks').map(({ input }) => input.payload);
}

const BLOCK = { blockingErrors: ['run tests'] };

test('S146: a hook that prevents the end stops the run and keeps the answer', () => {
  const shell = judged([{ preventContinuation: true, message: 'Ask Pat.' }]);
  expect(finish(shell)).toMatchObject({
    stopReason: 'stop_hook_prevented',
    completed: false,
    partialOutput: { text: 'x' },
    nextSafeAction: 'Ask Pat.',
  });
  expect(lettersOf(shell.transcript)).toBe('U A');
});

test('S147: an objection goes back to the model with the answer that it is about', () => {
  const shell = judged([BLOCK]);
  expect(finish(shell)).toMatchObject({
    stopReason: 'completed',
    answer: { text: 'y' },
    counters: { turnCount: 1, modelCalls: 2, stopHookReentries: 1 },
  });
  expect(shell.transcript.messages.map(({ role, text }) => `${role} ${text}`)).toEqual([
    'U Handle the case.',
    'A x',
    'U run tests',
    'A y',
  ]);
  expect(transitionsOf(shell)).toEqual(['stop_hook_blocking']);
  expect(ofType(shell, 'hook').map((event) => event.outcome)).toEqual(['block', 'ok']);
  expect(askedOf(shell)).toEqual([
    { response: 'x', stopHookActive: false },
    { response: 'y', stopHookActive: true },
  ]);
});

test('a re-entry keeps the recoveries that were used (C52)', () => {
  const cut = says('a', { stop: 'max_tokens' });
  const shell = judged([BLOCK], { model: [cut, cut, says('b'), says('c')] });
  expect(finish(shell).counters.recoveryCount).toBe(2);
});

test('objections come before preventContinuation', () => {
  const shell = judged([{ ...BLOCK, preventContinuation: true }]);
  expect(finish(shell).stopReason).toBe('completed');
});

test('objections of all hooks go into one message', () => {
  const shell = createShell({
    hookNames: { Stop: ['one', 'two'] },
    hooks: { one: [{ blockingErrors: ['a', ' '] }], two: [{ blockingErrors: ['b'] }] },
    model: [says('x'), says('y')],
  });
  finish(shell);
  expect(shell.transcript.messages[2]?.text).toBe('a\nb');
});

test('C32: after three re-entries the run stops with reentry_limit', () => {
  const shell = judged([BLOCK, BLOCK, BLOCK, BLOCK], {
    model: [says('1'), says('2'), says('3'), says('4'), says('5')],
  });
  expect(finish(shell)).toMatchObject({
    stopReason: 'stop_hook_prevented',
    detail: 'reentry_limit',
    partialOutput: { text: '4' },
    counters: { stopHookReentries: 3, modelCalls: 4 },
  });
  expect(requestsOf(shell)).toHaveLength(4);
});

test('the limit can be 0', () => {
  const shell = judged([BLOCK], { budget: { maxStopHookReentries: 0 } });
  expect(finish(shell)).toMatchObject({ detail: 'reentry_limit', counters: { modelCalls: 1 } });
});

test('a re-entry costs a model call of the budget', () => {
  const shell = judged([BLOCK, BLOCK, BLOCK], { budget: { maxTurns: 1 } });
  expect(finish(shell)).toMatchObject({ stopReason: 'max_turns', counters: { turnCount: 0 } });
});

test.each([
  ['throws', { error: 'boom' }],
  ['cannot be run', failure('Internal')],
])('a hook that %s has no say in it', (_, entry) => {
  expect(finish(judged([entry])).stopReason).toBe('completed');
});

test('G40: nothing but an answer is judged', () => {
  const shell = judged([], {
    model: [
      calls(call('a', 'read_order')),
      says(' '),
      says('cut', { stop: 'max_tokens' }),
      says('I will not.', { stop: 'refusal' }),
    ],
  });
  expect(finish(shell).stopReason).toBe('refused');
  expect(askedOf(shell)).toEqual([]);
});

test('an answer without its evidence is not judged', () => {
  const requiredEvidence = [{ id: 'order', satisfiedBy: 'read_order' }];
  const shell = judged([], { task: { requiredEvidence } });
  expect(finish(shell).stopReason).toBe('evidence_missing');
  expect(askedOf(shell)).toEqual([]);
});

test('a message that comes while the hook judges is answered afterwards', () => {
  const shell = judged([{ delayMs: 50 }]);
  until(shell, 'model_response');
  send(shell, { type: 'user_message', text: 'and?' });
  finish(shell);
  expect(lettersOf(shell.transcript)).toBe('U A U A');
});

test('an interrupt while the hook judges ends the run', () => {
  const shell = judged([{ delayMs: 60_000 }]);
  until(shell, 'model_response');
  send(shell, { type: 'interrupt' });
  expect(finish(shell).stopReason).toBe('interrupted');
  expect(shell.now - 1_000_000).toBeLessThan(1_000);
});

test('the judgement survives continue-as-new', () => {
  const shell = judged([{ ...BLOCK, delayMs: 20 }]);
  until(shell, 'model_response');
  crossSegment(shell);
  expect(finish(shell)).toMatchObject({ answer: { text: 'y' } });
  expect(askedOf(shell)).toHaveLength(2);
});

test('each question of a conversation begins without an objection', () => {
  const shell = judged([BLOCK], {
    settings: { afterAnswer: 'await_user' },
    model: [says('x'), says('y'), says('z')],
  });
  settle(shell);
  send(shell, { type: 'user_message', text: 'next' });
  settle(shell);
  expect(askedOf(shell)).toMatchObject([
    { stopHookActive: false },
    { stopHookActive: true },
    { stopHookActive: false },
  ]);
});

test('a reason of the task’s own is the detail of the stop', () => {
  const shell = judged([{ preventContinuation: true, message: 'policy_blocked' }], {
    task: { stopReasons: ['policy_blocked'] },
  });
  expect(finish(shell)).toMatchObject({
    stopReason: 'stop_hook_prevented',
    detail: 'policy_blocked',
  });
});
