/** `interruptMode: 'pause'`: an interrupt ends what is under way and waits for the user (C44, G94). */
import { viewOf } from '../../../core/step/open-work.js';
import { call, calls, decisionOn, failure, says, withReply, type Script } from '../script.js';
import {
  answer,
  codesOf,
  createShell,
  crossSegment,
  executedOf,
  finish,
  ofType,
  pass,
  post,
  requestsOf,
  send,
  settle,
  tick,
  until,
  warningsOf,
  type Outside,
  type Shell,
} from '../shell.js';
import { statusOf } from '../../../core/loop/run-result.js';
import { lettersOf } from '../transcript.js';

const INTERRUPT: Outside = { type: 'interrupt' };
const GO_ON: Outside = { type: 'user_message', text: 'go on' };

function pausing(script: Script): Shell {
  return createShell({ ...script, settings: { interruptMode: 'pause', ...script.settings } });
}

describe('an interrupt', () => {
  test('while the model answers: the call is cancelled, the run waits and goes on with the next message', () => {
    const partial = says('so far', { partial: true }).reply;
    const shell = pausing({ model: [{ ...says('late'), partial, delayMs: 50 }, says('42')] });
    until(shell, 'session_init');
    send(shell, INTERRUPT);
    settle(shell);
    expect(statusOf(shell.run)).toBe('awaiting_user');
    expect(ofType(shell, 'interruption')).toMatchObject([{ by: 'interrupt' }]);
    expect(ofType(shell, 'stop')).toEqual([]);
    send(shell, GO_ON);
    expect(finish(shell)).toMatchObject({ stopReason: 'completed', answer: { text: '42' } });
    expect(lettersOf(shell.transcript)).toBe('U A U A');
  });

  test('while tools run: what is done stays, the others get the result of an interrupt', () => {
    const shell = pausing({
      model: [
        calls(call('a', 'read_order'), call('b', 'lookup_order'), call('c', 'read_order')),
        says('42'),
      ],
      outcomes: { lookup_order: [{ hang: true }] },
    });
    until(shell, 'tool_started', { callId: 'b' });
    send(shell, INTERRUPT);
    settle(shell);
    expect(codesOf(shell)).toEqual({
      a: 'ok',
      b: 'interrupted_mid_execution',
      c: 'interrupted_mid_execution',
    });
    send(shell, GO_ON);
    expect(finish(shell).stopReason).toBe('completed');
    expect(lettersOf(shell.transcript)).toBe('U A R U A');
    expect(executedOf(shell)).toHaveLength(2);
  });

  test('with a mutating call under way: it is unknown, and is not run again', () => {
    const shell = pausing({
      model: [calls(call('a', 'write_note', {})), says('42')],
      outcomes: { write_note: [{ hang: true }] },
    });
    until(shell, 'tool_started');
    send(shell, INTERRUPT);
    settle(shell);
    send(shell, GO_ON);
    expect(finish(shell).stopReason).toBe('completed');
    expect(codesOf(shell)).toEqual({ a: 'outcome_unknown' });
    expect(executedOf(shell)).toHaveLength(1);
  });

  test('while a person is asked: the question is withdrawn, its late answer starts nothing', () => {
    const shell = settle(pausing({ model: [calls(call('a', 'issue_refund', {})), says('42')] }));
    const [ask] = shell.run.asks;
    send(shell, INTERRUPT);
    settle(shell);
    expect(ofType(shell, 'approval_withdrawn')).toMatchObject([{ askId: ask?.id }]);
    expect(codesOf(shell)).toEqual({ a: 'interrupted' });
    send(shell, {
      type: 'decision',
      decision: {
        v: 1,
        askId: ask!.id,
        argsHash: ask!.digest,
        decision: 'approve',
        by: 'pat',
        roles: [],
        decidedAt: shell.now,
      },
    });
    send(shell, GO_ON);
    expect(finish(shell).stopReason).toBe('completed');
    expect(executedOf(shell)).toEqual([]);
  });

  test('before the model is asked: the run waits first', () => {
    const shell = pausing({ model: [says('42')] });
    send(shell, INTERRUPT);
    settle(shell);
    expect(requestsOf(shell)).toEqual([]);
    send(shell, GO_ON);
    expect(finish(shell).stopReason).toBe('completed');
  });

  test('with a message that is there already: it is what the run goes on with', () => {
    const shell = pausing({ model: [{ ...says('late'), delayMs: 50 }, says('42')] });
    until(shell, 'session_init');
    send(shell, GO_ON, INTERRUPT);
    expect(finish(shell)).toMatchObject({ stopReason: 'completed', answer: { text: '42' } });
    expect(ofType(shell, 'user_message')).toMatchObject([{ text: { text: 'go on' } }]);
  });

  test('with a complete call that had arrived: it never runs', () => {
    const partial = withReply(calls(call('a', 'write_note', {})), { partial: true }).reply;
    const shell = pausing({ model: [{ ...says('late'), partial, delayMs: 50 }, says('42')] });
    until(shell, 'session_init');
    send(shell, INTERRUPT);
    settle(shell);
    send(shell, GO_ON);
    finish(shell);
    expect(codesOf(shell)).toEqual({ a: 'interrupted' });
    expect(executedOf(shell)).toEqual([]);
  });

  test('together with the failure of the model: the failure is forgotten', () => {
    const shell = pausing({ model: [failure('AuthError'), says('42')] });
    until(shell, 'session_init');
    post(shell, INTERRUPT);
    settle(shell);
    send(shell, GO_ON);
    expect(finish(shell).stopReason).toBe('completed');
  });
});

describe('a run that pauses', () => {
  function paused(more: Partial<Script> = {}): Shell {
    const model = [{ ...says('late'), delayMs: 50 }, says('42')];
    const shell = pausing({ model, ...more });
    until(shell, 'session_init');
    send(shell, INTERRUPT);
    return settle(shell);
  }

  test('spends no active time', () => {
    const shell = paused({ budget: { timeoutMs: 1_000 } });
    pass(shell, 100_000);
    send(shell, GO_ON);
    expect(finish(shell)).toMatchObject({ stopReason: 'completed' });
    expect(shell.run.clock.waitingMs).toBeGreaterThanOrEqual(100_000);
  });

  test('is interrupted, not completed, when nobody comes back', () => {
    expect(finish(paused())).toMatchObject({ stopReason: 'interrupted', phase: 'streaming' });
  });

  test('is ended by a cancel', () => {
    const shell = paused();
    send(shell, { type: 'cancel_requested' });
    expect(finish(shell).stopReason).toBe('aborted');
  });

  test('is completed by close, as any run that waits for its user', () => {
    const shell = paused();
    send(shell, { type: 'close' });
    expect(finish(shell)).toMatchObject({ stopReason: 'completed', detail: 'closed' });
  });

  test('has nothing to interrupt', () => {
    const shell = paused();
    send(shell, INTERRUPT);
    expect(warningsOf(shell)).toEqual(['input_ignored']);
    expect(ofType(shell, 'interruption')).toHaveLength(1);
    send(shell, GO_ON);
    expect(finish(shell).stopReason).toBe('completed');
  });

  test('can pause again before its turn is over, under another id', () => {
    const slow = { ...says('late'), delayMs: 50 };
    const shell = paused({ model: [slow, slow, says('42')] });
    send(shell, GO_ON);
    send(shell, INTERRUPT);
    settle(shell);
    const ids = ofType(shell, 'input_request').map((event) => event.askId);
    expect(new Set(ids).size).toBe(2);
    send(shell, GO_ON);
    expect(finish(shell).stopReason).toBe('completed');
  });

  test('pauses over segments', () => {
    const shell = paused();
    crossSegment(shell);
    settle(shell);
    send(shell, GO_ON);
    expect(finish(shell).stopReason).toBe('completed');
  });

  test('does not count interrupted calls as failures of their tool', () => {
    const reads = Array.from({ length: 6 }, (_, index) => calls(call(`c${index}`, 'read_order')));
    const shell = pausing({
      model: [...reads, says('42')],
      outcomes: { read_order: [{ hang: true }] },
    });
    for (let round = 0; round < reads.length; round += 1) {
      until(shell, 'tool_started');
      send(shell, INTERRUPT);
      settle(shell);
      send(shell, GO_ON);
    }
    expect(finish(shell).stopReason).toBe('completed');
  });
});

test('a cancel while the run is about to pause ends it', () => {
  const shell = pausing({
    model: [calls(call('a', 'read_order')), says('late')],
    outcomes: { read_order: [{ hang: true }] },
  });
  until(shell, 'tool_started');
  send(shell, INTERRUPT);
  send(shell, { type: 'cancel_requested' });
  expect(finish(shell).stopReason).toBe('aborted');
});

test('an approval that is answered with the interrupt starts nothing', () => {
  const shell = settle(pausing({ model: [calls(call('a', 'issue_refund', {})), says('42')] }));
  post(shell, INTERRUPT);
  answer(shell);
  settle(shell);
  expect(executedOf(shell)).toEqual([]);
  expect(tick(shell)).toBe(false);
});

test('a question about a budget is withdrawn, and asked again when the run goes on', () => {
  const shell = settle(
    pausing({
      settings: { onBudget: 'ask' },
      budget: { maxToolCalls: 1 },
      model: [calls(call('a', 'read_order'), call('b', 'lookup_order')), says('42')],
    }),
  );
  send(shell, INTERRUPT);
  settle(shell);
  expect(codesOf(shell)).toMatchObject({ a: 'ok', b: 'interrupted_mid_execution' });
  send(shell, GO_ON);
  settle(shell);
  expect(ofType(shell, 'input_request').filter(({ kind }) => kind === 'budget')).toHaveLength(2);
  const ask = viewOf(shell.run.asks.find(({ kind }) => kind === 'budget')!);
  send(shell, { type: 'decision', decision: decisionOn(ask, { decidedAt: shell.now }) });
  expect(finish(shell).stopReason).toBe('completed');
});
