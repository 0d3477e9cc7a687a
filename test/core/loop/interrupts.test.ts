import { call, calls, says, withReply, type Script, type ToolEntry } from '../script.js';
import {
  codesOf,
  createShell,
  executedOf,
  finish,
  ofType,
  post,
  requestsOf,
  send,
  settle,
  tick,
  until,
  type Outside,
  type Shell,
} from '../shell.js';
import { lettersOf } from '../transcript.js';

const INTERRUPT: Outside = { type: 'interrupt' };
const CANCEL: Outside = { type: 'cancel_requested' };

function threeReads(more: Partial<Script> = {}): Shell {
  const model = [
    calls(call('a', 'read_order'), call('b', 'lookup_order'), call('c', 'read_order')),
    says('late'),
  ];
  return createShell({ model, outcomes: { lookup_order: [{ hang: true }] }, ...more });
}

describe('before the model is asked', () => {
  test.each([
    [INTERRUPT, 'interrupted'],
    [CANCEL, 'aborted'],
    [{ type: 'close' } as Outside, 'aborted'],
  ])('S129: %j ends the run, announced from first to last', (input, stopReason) => {
    const shell = createShell({ model: [says('late')] });
    send(shell, input);
    expect(finish(shell)).toMatchObject({ stopReason, phase: 'before_model', status: 'cancelled' });
    expect(requestsOf(shell)).toEqual([]);
    expect(shell.events.map((event) => event.type)).toEqual([
      'session_init',
      'interruption',
      'stop',
      'run_result',
    ]);
  });

  test('S137: both: interrupt wins, in either order', () => {
    for (const inputs of [
      [INTERRUPT, CANCEL],
      [CANCEL, INTERRUPT],
    ]) {
      const shell = createShell({ model: [says('late')] });
      send(shell, ...inputs);
      expect(finish(shell).stopReason).toBe('interrupted');
    }
  });

  test('a limit that is reached already comes before the interrupt', () => {
    const shell = createShell({ budget: { maxTurns: 0 }, model: [] });
    send(shell, INTERRUPT);
    expect(finish(shell).stopReason).toBe('max_turns');
  });
});

describe('while the model answers', () => {
  test('S130: the call is cancelled and nothing is left unpaired', () => {
    const shell = createShell({ model: [says('late')] });
    until(shell, 'session_init');
    send(shell, INTERRUPT);
    expect(finish(shell)).toMatchObject({ stopReason: 'interrupted', phase: 'streaming' });
    expect(shell.effects).toContainEqual({ kind: 'cancel', target: 'call_model-2' });
    expect(ofType(shell, 'interruption')).toMatchObject([{ by: 'interrupt' }]);
    expect(lettersOf(shell.transcript)).toBe('U');
    expect(shell.run.money.reserved).toEqual({});
  });

  test('text that had arrived is kept', () => {
    const partial = says('so far', { partial: true }).reply;
    const shell = createShell({ model: [{ ...says('late'), partial }] });
    until(shell, 'session_init');
    send(shell, INTERRUPT);
    finish(shell);
    expect(lettersOf(shell.transcript)).toBe('U A');
    expect(ofType(shell, 'model_response')).toMatchObject([{ partial: true }]);
  });

  test('S132: complete calls that had arrived get a result and never run', () => {
    const partial = withReply(calls(call('a', 'write_note', {})), { partial: true }).reply;
    const shell = createShell({ model: [{ ...says('late'), partial }] });
    until(shell, 'session_init');
    send(shell, CANCEL);
    expect(finish(shell)).toMatchObject({ stopReason: 'aborted', phase: 'streaming' });
    expect(codesOf(shell)).toEqual({ a: 'interrupted' });
    expect(lettersOf(shell.transcript)).toBe('U A R');
    expect(executedOf(shell)).toEqual([]);
  });

  test('an answer that arrives with the interrupt does not complete the run', () => {
    const shell = createShell({ model: [says('42')] });
    until(shell, 'session_init');
    post(shell, INTERRUPT);
    expect(finish(shell).stopReason).toBe('interrupted');
    expect(lettersOf(shell.transcript)).toBe('U A');
  });
});

describe('while calls are waiting or running', () => {
  test('S51: an open question is withdrawn', () => {
    const shell = settle(
      createShell({ model: [calls(call('a', 'issue_refund', {})), says('late')] }),
    );
    send(shell, INTERRUPT);
    expect(finish(shell)).toMatchObject({ stopReason: 'interrupted', phase: 'before_tools' });
    expect(ofType(shell, 'approval_withdrawn')).toMatchObject([{ askId: 'run_1:0', callId: 'a' }]);
    expect(ofType(shell, 'tool_finished')).toMatchObject([
      { code: 'interrupted', content: { text: 'Interrupted by user' }, started: false },
    ]);
    expect(shell.run.inflight).toEqual({});
  });

  test('S133: what is done stays, the running and the waiting call are interrupted', () => {
    const shell = threeReads();
    until(shell, 'tool_started', { callId: 'b' });
    send(shell, INTERRUPT);
    expect(finish(shell)).toMatchObject({ stopReason: 'interrupted', phase: 'tools' });
    expect(ofType(shell, 'tool_finished')).toMatchObject([
      { callId: 'a', status: 'ok' },
      { callId: 'b', code: 'interrupted_mid_execution', started: true },
      { callId: 'c', code: 'interrupted_mid_execution', started: false },
    ]);
    expect(finish(shell).counters).toMatchObject({ toolCalls: 2, notStartedCalls: 1 });
    expect(lettersOf(shell.transcript)).toBe('U A R');
  });

  test('a mutating call that was running is unknown, not failed', () => {
    const shell = createShell({
      model: [calls(call('a', 'write_note', {}))],
      outcomes: { write_note: [{ hang: true }] },
    });
    until(shell, 'tool_started');
    send(shell, CANCEL);
    expect(finish(shell).stopReason).toBe('aborted');
    expect(codesOf(shell)).toEqual({ a: 'outcome_unknown' });
  });

  test('S135: an interrupt that arrives with a result keeps the next call from starting', () => {
    const shell = threeReads();
    until(shell, 'tool_started', { callId: 'a' });
    post(shell, INTERRUPT);
    expect(finish(shell).stopReason).toBe('interrupted');
    expect(executedOf(shell)).toHaveLength(1);
    expect(codesOf(shell)).toMatchObject({ a: 'ok', b: 'interrupted_mid_execution' });
  });

  test('a result that arrives with the interrupt is the result, also of an error', () => {
    const shell = createShell({
      model: [calls(call('a', 'write_note', {}))],
      outcomes: { write_note: [{ error: 'disk full' }] },
    });
    until(shell, 'tool_started');
    post(shell, INTERRUPT);
    finish(shell);
    expect(codesOf(shell)).toEqual({ a: 'execution_error' });
  });

  test('what its executor says of a stop is no word of the tool', () => {
    const stopped = { error: 'Interrupted mid-execution', code: 'interrupted_mid_execution' };
    const shell = createShell({
      model: [calls(call('a', 'read_order'))],
      outcomes: { read_order: [stopped as ToolEntry] },
    });
    until(shell, 'tool_started');
    post(shell, INTERRUPT);
    finish(shell);
    expect(ofType(shell, 'tool_finished')).toMatchObject([{ synthetic: true, started: true }]);
  });

  test('what is being reconciled becomes unknown', () => {
    const shell = createShell({
      model: [calls(call('a', 'write_note', {}))],
      outcomes: { write_note: [{ ambiguous: 'reset' }] },
    });
    until(shell, 'tool_started');
    tick(shell);
    send(shell, INTERRUPT);
    finish(shell);
    expect(codesOf(shell)).toEqual({ a: 'outcome_unknown' });
  });

  test('a second interrupt while the run stops is only noted', () => {
    const shell = threeReads();
    until(shell, 'tool_started', { callId: 'b' });
    send(shell, INTERRUPT);
    send(shell, INTERRUPT, { type: 'user_message', text: 'hello?' });
    expect(finish(shell).unprocessed).toEqual(['interrupt', 'user_message']);
    expect(ofType(shell, 'interruption')).toHaveLength(1);
  });
});

describe('at every point of a run', () => {
  const script: Script = {
    model: [
      calls(call('a', 'read_order'), call('b', 'issue_refund', {})),
      says('cut', { stop: 'max_tokens' }),
      says('done'),
    ],
  };

  test.each([INTERRUPT, CANCEL])('%j leaves a consistent run, whenever it arrives', (input) => {
    for (let steps = 0; steps < 20; steps += 1) {
      const shell = createShell(script);
      for (let step = 0; step < steps; step += 1) tick(shell);
      send(shell, input);
      const { stopReason } = finish(shell);
      expect(['interrupted', 'aborted', 'completed', 'needs_human']).toContain(stopReason);
    }
  });
});

describe('a run that cannot be opened', () => {
  test('ends when it is cancelled, though only after a grace', () => {
    const shell = createShell({ openNever: true, model: [] });
    send(shell, CANCEL);
    expect(finish(shell)).toMatchObject({
      stopReason: 'aborted',
      phase: 'before_model',
      status: 'cancelled',
    });
  });
});
