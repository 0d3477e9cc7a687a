import { CONTINUE_AS_NEW_BYTES_MAX } from '../../../core/json/json.js';
import { call, calls, decisionOn, failure, says, type Script } from '../script.js';
import {
  activate,
  answer,
  askOf,
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
  started,
  tick,
  transitionsOf,
  until,
  warningsOf,
} from '../shell.js';
import { lettersOf } from '../transcript.js';

const HOUR = 3_600_000;
const REFUND: Script = { model: [calls(call('a', 'issue_refund', { amount: 5 })), says('done')] };

describe('a run goes over into its next segment', () => {
  test('with an approval pending, which then executes once', () => {
    const shell = settle(createShell(REFUND));
    const before = askOf(shell);
    crossSegment(shell);
    settle(shell);
    expect(askOf(shell)).toEqual(before);
    answer(shell);
    expect(finish(shell).stopReason).toBe('completed');
    expect(executedOf(shell)).toEqual(['a issue_refund case:0 1']);
    expect(
      started(shell, 'open_run').map(({ input }) => [input.segment, input.previousExecution]),
    ).toEqual([
      [0, undefined],
      [1, 'execution-1'],
    ]);
  });

  test('with its deadlines: the question expires when it would have', () => {
    const shell = settle(createShell({ ...REFUND, settings: { approvalTimeoutMs: HOUR } }));
    const { expiresAt } = askOf(shell);
    pass(shell, HOUR / 2);
    crossSegment(shell);
    expect(finish(shell).detail).toBe('approval_timeout');
    expect(ofType(shell, 'approval_resolved')[0]?.stamp.at).toBe(expiresAt);
  });

  test('with a decision that arrives before it is open again', () => {
    const shell = settle(createShell(REFUND));
    const decision = decisionOn(askOf(shell));
    crossSegment(shell);
    send(shell, { type: 'decision', decision });
    expect(finish(shell).stopReason).toBe('completed');
  });

  test('with messages queued, none lost and none twice', () => {
    const shell = createShell({
      settings: { afterAnswer: 'await_user' },
      model: [says('one'), says('two')],
    });
    until(shell, 'session_init');
    send(shell, { type: 'user_message', text: 'q', id: 'm1' });
    crossSegment(shell);
    send(shell, { type: 'user_message', text: 'q', id: 'm1' });
    settle(shell);
    expect(lettersOf(shell.transcript)).toBe('U A U A');
  });

  test('while a conversation waits', () => {
    const shell = settle(
      createShell({ settings: { afterAnswer: 'await_user' }, model: [says('one'), says('two')] }),
    );
    pass(shell, HOUR);
    crossSegment(shell);
    settle(shell);
    expect(shell.run.shownStatus).toBe('awaiting_user');
    send(shell, { type: 'user_message', text: 'next' });
    settle(shell);
    expect(shell.run.lastAnswer).toEqual({ text: 'two' });
    expect(shell.run.clock.waitingMs).toBeGreaterThanOrEqual(HOUR);
  });

  test('only after what is in flight has come back, and starts nothing meanwhile', () => {
    const shell = createShell({
      model: [calls(call('a', 'read_order'), call('b', 'read_order')), says('done')],
    });
    until(shell, 'tool_started');
    send(shell, { type: 'segment_full' });
    expect(shell.run.final).toBeUndefined();
    crossSegment(shell);
    expect(executedOf(shell)).toHaveLength(1);
    expect(finish(shell).stopReason).toBe('completed');
    expect(codesOf(shell)).toEqual({ a: 'ok', b: 'ok' });
    expect(transitionsOf(shell)).toEqual(['continued_as_new', 'next_turn']);
  });

  test('at every point, with the same calls executed and the same end', () => {
    const script: Script = {
      model: [
        calls(call('a', 'read_order'), call('b', 'shell', {})),
        says('x', { stop: 'max_tokens' }),
        says('y'),
      ],
    };
    for (let steps = 0; steps < 6; steps += 1) {
      const shell = createShell(script);
      for (let step = 0; step < steps; step += 1) tick(shell);
      crossSegment(shell);
      expect(finish(shell)).toMatchObject({
        stopReason: 'completed',
        counters: { toolCalls: 2, modelCalls: 3 },
      });
      expect(requestsOf(shell)).toHaveLength(3);
      expect(lettersOf(shell.transcript)).toBe('U A R A U A');
    }
  });

  test('an interrupt is stronger than a full segment', () => {
    const shell = settle(createShell(REFUND));
    post(shell, { type: 'segment_full' }, { type: 'interrupt' });
    activate(shell);
    expect(finish(shell).stopReason).toBe('interrupted');
  });

  test('small, with everything that people have sent', () => {
    const shell = settle(createShell(REFUND));
    for (let index = 0; index < 300; index += 1) {
      send(shell, {
        type: 'user_message',
        text: 'ü'.repeat(16_384),
        id: `${index}`.padStart(400, 'x'),
      });
    }
    settle(shell);
    crossSegment(shell);
    expect(Buffer.byteLength(JSON.stringify(shell.run))).toBeLessThan(CONTINUE_AS_NEW_BYTES_MAX);
  });

  test('even when the closed segment could not be archived', () => {
    const openFailures = { 1: failure('StoreUnavailable').failure };
    const shell = settle(createShell({ ...REFUND, openFailures }));
    crossSegment(shell);
    settle(shell);
    expect(warningsOf(shell)).toEqual(['segment_not_archived']);
    answer(shell);
    expect(finish(shell).stopReason).toBe('completed');
  });
});
