import { call, calls, says, type Script } from '../script.js';
import {
  askOf,
  createShell,
  crossSegment,
  finish,
  ofType,
  pass,
  requestsOf,
  send,
  settle,
  until,
  warningsOf,
  type Shell,
} from '../shell.js';
import { RULES_VERSION } from '../../../core/step/changes.js';
import { QUEUE_BYTES_MAX, QUEUE_MAX } from '../../../core/loop/user-message.js';
import { lettersOf } from '../transcript.js';

const HOUR = 3_600_000;

function talk(more: Partial<Script>): Shell {
  return settle(createShell({ model: [], settings: { afterAnswer: 'await_user' }, ...more }));
}

function say(shell: Shell, text: string, id?: string): void {
  send(shell, { type: 'user_message', text, ...(id !== undefined && { id }) });
  settle(shell);
}

describe('a conversation', () => {
  test('delivers each answer and waits for the next message', () => {
    const shell = talk({
      model: [says('one'), calls(call('a', 'read_order')), says('two'), says('three')],
    });
    expect(shell.run.shownStatus).toBe('awaiting_user');
    say(shell, 'and?');
    expect(shell.run.lastAnswer).toEqual({ text: 'two' });
    say(shell, 'more');
    send(shell, { type: 'close' });
    expect(finish(shell)).toMatchObject({
      stopReason: 'completed',
      detail: 'closed',
      answer: { text: 'three' },
      counters: { modelCalls: 4, turnCount: 4 },
    });
    expect(lettersOf(shell.transcript)).toBe('U A U A R A U A');
    expect(ofType(shell, 'user_message').map((event) => event.text)).toEqual([
      { text: 'and?' },
      { text: 'more' },
    ]);
  });

  test.each([
    ['tells of each message what its sender calls it', RULES_VERSION, ['u1', undefined]],
    ['tells no ids of messages under rules before 19', 18, [undefined, undefined]],
  ])('%s', (_what, rules, ids) => {
    const shell = talk({ model: [says('one'), says('two'), says('three')], rules });
    say(shell, 'and?', 'u1');
    say(shell, 'and once more?', 'u1');
    say(shell, 'more');
    expect(ofType(shell, 'user_message').map((event) => event.clientMessageId)).toEqual(ids);
  });

  test('waiting for the user costs no active time', () => {
    const shell = talk({ model: [says('one'), says('two')], budget: { timeoutMs: 10_000 } });
    pass(shell, 5 * HOUR);
    say(shell, 'still there?');
    expect(shell.run.shownStatus).toBe('awaiting_user');
    expect(shell.run.clock.waitingMs).toBeGreaterThanOrEqual(5 * HOUR);
    expect(shell.run.clock.activeMs).toBeLessThan(10);
  });

  test('messages that arrive during a turn wait for its end, in order', () => {
    const shell = createShell({
      settings: { afterAnswer: 'await_user' },
      model: [calls(call('a', 'read_order')), says('one'), says('two')],
    });
    until(shell, 'tool_started');
    send(shell, { type: 'user_message', text: 'x' }, { type: 'user_message', text: 'y' });
    settle(shell);
    expect(lettersOf(shell.transcript)).toBe('U A R U U A');
  });

  test('a message during the answer is the next turn at once', () => {
    const shell = createShell({
      settings: { afterAnswer: 'await_user' },
      model: [says('one'), says('two')],
    });
    until(shell, 'session_init');
    send(shell, { type: 'user_message', text: 'wait' });
    settle(shell);
    expect(lettersOf(shell.transcript)).toBe('U A U A');
    expect(ofType(shell, 'input_request')).toHaveLength(1);
  });

  test('a message that was delivered twice counts once', () => {
    const shell = talk({ model: [says('one'), says('two'), says('three')] });
    say(shell, 'hello', 'm1');
    say(shell, 'hello', 'm1');
    expect(requestsOf(shell)).toHaveLength(2);
  });

  test('ends idle when nobody writes', () => {
    const shell = talk({
      model: [says('one')],
      settings: { afterAnswer: 'await_user', idleTimeoutMs: HOUR },
    });
    expect(finish(shell)).toMatchObject({ stopReason: 'completed', detail: 'idle' });
    expect(ofType(shell, 'input_provided')).toMatchObject([{ outcome: 'expired' }]);
  });

  test('closed while it works, it is aborted', () => {
    const shell = createShell({ model: [says('late')], settings: { afterAnswer: 'await_user' } });
    until(shell, 'session_init');
    send(shell, { type: 'close' });
    expect(finish(shell).stopReason).toBe('aborted');
  });

  test('interrupted while it waits, it is interrupted before the model', () => {
    const shell = talk({ model: [says('one')] });
    send(shell, { type: 'interrupt' });
    expect(finish(shell)).toMatchObject({ stopReason: 'interrupted', phase: 'before_model' });
  });

  test('budgets count over the whole of it', () => {
    const shell = talk({
      model: [says('one'), says('two'), says('three')],
      budget: { maxTurns: 2 },
    });
    say(shell, 'a');
    say(shell, 'b');
    const result = finish(shell);
    expect(result).toMatchObject({ stopReason: 'max_turns', partialOutput: { text: 'two' } });
    expect(result.answer).toBeUndefined();
  });

  test('each turn of the user has its own recoveries', () => {
    const cut = says('x', { stop: 'max_tokens' });
    const shell = talk({ model: [cut, cut, cut, says('a'), cut, cut, cut, says('b')] });
    say(shell, 'again');
    expect(shell.run.shownStatus).toBe('awaiting_user');
  });

  test('a decision is no answer to it', () => {
    const shell = talk({ model: [says('one')] });
    const { askId, argsHash } = askOf(shell);
    const decision = {
      v: 1,
      askId,
      argsHash,
      decision: 'approve',
      by: 'x',
      roles: [],
      decidedAt: 1,
    } as const;
    send(shell, { type: 'decision', decision });
    expect(shell.run.shownStatus).toBe('awaiting_user');
    expect(warningsOf(shell)).toEqual(['decision_ignored']);
  });
});

describe('a run stays small', () => {
  test('however many turns a conversation has', () => {
    const shell = talk({
      budget: { maxTurns: 'unlimited', maxCostMicroUsd: 'unlimited' },
      model: Array.from({ length: 120 }, (_, index) => says(`answer ${index}`)),
    });
    const sizes: number[] = [];
    for (let turn = 0; turn < 100; turn += 1) {
      // Behind long work it waits for its user in a new segment.
      if (shell.run.final !== undefined) crossSegment(shell);
      say(shell, `question ${turn}`);
      sizes.push(JSON.stringify(shell.run).length);
    }
    expect(sizes.at(-1)!).toBeLessThan(sizes[10]! + 200);
  });

  test('however many tool turns with results by reference it has', () => {
    const stored = { $blob: 'a'.repeat(64), bytes: 900_000, preview: 'x'.repeat(200) };
    const model = Array.from({ length: 100 }, (_, index) =>
      calls(call(`c${index}`, 'read_order', { orderId: String(index) })),
    );
    const shell = createShell({
      model,
      outcomes: { read_order: [{ stored }] },
      budget: {
        maxTurns: 90,
        maxToolCalls: 100,
        maxCostMicroUsd: 'unlimited',
        maxInputTokens: 'unlimited',
      },
    });
    const sizes: number[] = [];
    for (let turn = 0; turn < 80; turn += 1) {
      until(shell, 'tool_finished');
      sizes.push(JSON.stringify(shell.run).length);
    }
    expect(sizes.at(-1)!).toBeLessThan(sizes[10]! + 400);
  });

  test('whatever is sent to it while it works', () => {
    const shell = createShell({ model: [says('one')] });
    until(shell, 'session_init');
    for (let index = 0; index < QUEUE_MAX * 2; index += 1) {
      send(shell, { type: 'user_message', text: 'y'.repeat(2_000) });
    }
    const queued = shell.run.queue.reduce((sum, { text }) => sum + text.length, 0);
    expect(queued).toBeLessThanOrEqual(QUEUE_BYTES_MAX);
    expect(warningsOf(shell)).toContain('message_dropped');
  });

  test('whatever the length of its goal', () => {
    const shell = createShell({ model: [], task: { goal: 'g'.repeat(100_000) }, goalStored: true });
    until(shell, 'session_init');
    expect(JSON.stringify(shell.run).length).toBeLessThan(20_000);
  });
});
