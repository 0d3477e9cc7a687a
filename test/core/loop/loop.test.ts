import { CHANGES } from '../../../core/step/changes.js';
import { viewOfRun } from '../../../core/loop/run-result.js';
import { call, calls, says, STRICT_001, withReply, type Script } from '../script.js';
import {
  codesOf,
  createShell,
  crossSegment,
  executedOf,
  finish,
  ofType,
  requestsOf,
  START,
  transitionsOf,
  until,
  type Shell,
} from '../shell.js';
import { lettersOf } from '../transcript.js';

const STRICT = { settings: STRICT_001, budget: { emptyResponseRetries: 0 } };

function play(script: Script): Shell {
  const shell = createShell(script);
  finish(shell);
  return shell;
}

/** Trace lines of seed 001: `step:N:validation:<decision>`. */
function validationsOf(shell: Shell): readonly string[] {
  return ofType(shell, 'validation').map(
    (event) => `step:${event.stamp.step}:validation:${event.decision}`,
  );
}

describe('a run ends for one stated reason', () => {
  test('S1: a tool result and then an answer complete the run', () => {
    const shell = play({
      ...STRICT,
      budget: { ...STRICT.budget, maxTurns: 3 },
      model: [calls(call('a', 'lookup_order', { orderId: 'A-104' })), says('The order shipped.')],
    });
    expect(finish(shell)).toMatchObject({
      status: 'completed',
      stopReason: 'completed',
      completed: true,
      answer: { text: 'The order shipped.' },
      counters: { modelCalls: 2, turnCount: 2, step: 1, toolCalls: 1, proposedCalls: 1 },
    });
    expect(finish(shell).nextSafeAction).toBeUndefined();
    expect(lettersOf(shell.transcript)).toBe('U A R A');
    expect(executedOf(shell)).toEqual(['a lookup_order case:0 1']);
    expect(validationsOf(shell)).toEqual(['step:0:validation:execute', 'step:1:validation:final']);
  });

  test('S2: a tool outside the allowed actions refuses a strict run, with a result for the call', () => {
    const shell = play({
      ...STRICT,
      task: { allowedActions: ['lookup_order'] },
      model: [calls(call('a', 'delete_order', { orderId: 'A-104' }))],
    });
    expect(finish(shell)).toMatchObject({
      stopReason: 'refused',
      detail: 'denied_action',
      counters: { toolCalls: 0, deniedCalls: 1 },
    });
    expect(executedOf(shell)).toEqual([]);
    expect(codesOf(shell)).toEqual({ a: 'tool_not_allowed' });
    expect(lettersOf(shell.transcript)).toBe('U A R');
  });

  test('S3: one tool error stops a strict run before the next request', () => {
    const shell = play({
      ...STRICT,
      model: [calls(call('a', 'lookup_order')), says('late')],
      outcomes: { lookup_order: [{ error: 'database is down' }] },
    });
    expect(finish(shell)).toMatchObject({ stopReason: 'tool_failure', status: 'failed' });
    expect(requestsOf(shell)).toHaveLength(1);
    expect(ofType(shell, 'tool_finished')[0]).toMatchObject({ started: true, synthetic: false });
  });

  test('S4: the last turn executes its calls and the model is not asked again', () => {
    const shell = play({
      ...STRICT,
      budget: { ...STRICT.budget, maxTurns: 1 },
      model: [calls(call('a', 'lookup_order')), says('This proposal must not run.')],
    });
    const result = finish(shell);
    expect(result).toMatchObject({ stopReason: 'max_turns', completed: false });
    expect(result.counters.modelCalls).toBe(1);
    expect(result.nextSafeAction).toContain('larger budget');
    expect(lettersOf(shell.transcript)).toBe('U A R');
  });

  test('S5: two infrastructure failures of one tool need a person', () => {
    const down = { error: 'upstream', code: 'retryable_error' } as const;
    const shell = play({
      budget: { maxRetriesPerToolCall: 0 },
      model: [
        calls(call('a', 'read_delivery_status')),
        calls(call('b', 'read_delivery_status')),
        says('late'),
      ],
      outcomes: { read_delivery_status: [down] },
    });
    const result = finish(shell);
    expect(result).toMatchObject({ stopReason: 'needs_human', detail: 'repeated_tool_failure' });
    expect(result.counters.toolAttempts).toBe(2);
    expect(requestsOf(shell)).toHaveLength(2);
  });

  test('S7: an exhausted script escalates and never hangs', () => {
    const result = finish(createShell({ model: [calls(call('a', 'read_order'))] }));
    expect(result).toMatchObject({ stopReason: 'needs_human', detail: 'escalated' });
    expect(result.nextSafeAction).toBe('script_exhausted');
  });

  test('S9: a refusal of the model is a stop, not a failure', () => {
    const refusal = withReply(says('cannot help'), { stop: 'refusal' });
    expect(finish(createShell({ model: [refusal] }))).toMatchObject({
      stopReason: 'refused',
      detail: 'model_refusal',
      status: 'stopped',
    });
  });

  test('S38: a task that the safety policy denies never reaches the model', () => {
    const shell = play({ task: { denied: 'weapons' }, model: [says('no')] });
    expect(finish(shell)).toMatchObject({ stopReason: 'refused', detail: 'safety_policy' });
    expect(finish(shell).nextSafeAction).toBe('weapons');
    expect(requestsOf(shell)).toEqual([]);
    expect(shell.events[0]?.type).toBe('session_init');
  });
});

describe('what a reply without calls means', () => {
  test('S10: text on the first turn completes and enters the transcript', () => {
    const shell = play({ model: [says('42')] });
    expect(finish(shell).counters).toMatchObject({ modelCalls: 1, turnCount: 1 });
    expect(lettersOf(shell.transcript)).toBe('U A');
  });

  test('S11: an empty reply is asked again once', () => {
    const shell = play({ model: [says('   '), says('ok')] });
    expect(finish(shell)).toMatchObject({ stopReason: 'completed', answer: { text: 'ok' } });
    expect(transitionsOf(shell)).toEqual(['empty_response_retry']);
    expect(lettersOf(shell.transcript)).toBe('U A');
  });

  test('S12: two empty replies are no answer', () => {
    const result = finish(createShell({ model: [says(''), says('')] }));
    expect(result).toMatchObject({ stopReason: 'empty_response', completed: false });
  });

  test('S14: calls are executed whatever the stop reason says', () => {
    const odd = withReply(calls(call('a', 'read_order')), { stop: 'end_turn' });
    const shell = play({ model: [odd, says('x')] });
    expect(executedOf(shell)).toHaveLength(1);
    expect(finish(shell).stopReason).toBe('completed');
  });

  test('no calls with stop reason tool_use is an answer', () => {
    const result = finish(createShell({ model: [says('x', { stop: 'tool_use' })] }));
    expect(result.stopReason).toBe('completed');
  });

  test('S16: a stop sequence completes and is recorded', () => {
    const shell = play({ model: [says('part', { stop: 'stop_sequence', stopDetail: '###' })] });
    expect(finish(shell).stopReason).toBe('completed');
    expect(ofType(shell, 'model_response')[0]?.stopReason).toBe('stop_sequence: ###');
  });

  test('a reply with thinking names its message; under rules before 10 it does not', () => {
    const heads = (rules: number) => {
      const shell = createShell({ rules, model: [says('42', { thinking: true }), says('x')] });
      finish(shell);
      return ofType(shell, 'model_response').map(({ head }) => head !== undefined);
    };
    const { since } = CHANGES.thoughtReplies;
    expect(heads(since)).toEqual([true]);
    expect(heads(since - 1)).toEqual([false]);
  });

  test('text beside calls is commentary', () => {
    const both = withReply(calls(call('a', 'read_order')), { text: { text: 'looking' } });
    const result = finish(createShell({ model: [both, says('found')] }));
    expect(result.answer).toEqual({ text: 'found' });
  });
});

describe('an answer needs its declared evidence', () => {
  const task = { requiredEvidence: [{ id: 'order', satisfiedBy: 'read_order' }] };

  test('S18: a contradicting answer is rejected once, then the run stops', () => {
    const shell = play({
      task,
      model: [calls(call('a', 'read_order')), says('Order shipped'), says('Order shipped')],
      outcomes: { read_order: [{ error: 'not found' }] },
    });
    expect(finish(shell)).toMatchObject({ stopReason: 'evidence_missing', completed: false });
    expect(transitionsOf(shell)).toEqual(['next_turn', 'completion_rejected']);
    expect(finish(shell).nextSafeAction).toContain('order (read_order)');
    expect(lettersOf(shell.transcript)).toBe('U A R A U A');
  });

  test('evidence that arrives after the rejection lets the answer pass', () => {
    const model = [says('Shipped'), calls(call('a', 'read_order')), says('Shipped indeed')];
    expect(finish(createShell({ task, model })).stopReason).toBe('completed');
  });
});

describe('the same call with the same result', () => {
  const same = (id: string) => calls(call(id, 'read_order'));

  test('S36: the third brings a notice, the fourth needs a person', () => {
    const shell = play({ model: [same('a'), same('b'), same('c'), same('d'), says('late')] });
    expect(finish(shell)).toMatchObject({ stopReason: 'needs_human', detail: 'no_progress' });
    expect(finish(shell).counters.modelCalls).toBe(4);
    expect(lettersOf(shell.transcript)).toBe('U A R A R A R U A R');
  });

  test('another call after the notice starts the count again', () => {
    const other = calls(call('x', 'read_order', { orderId: '2' }));
    const model = [same('a'), same('b'), same('c'), other, same('d'), says('done')];
    expect(finish(createShell({ model })).stopReason).toBe('completed');
  });

  test('a turn after the notice that executes nothing is not one more of the same', () => {
    const denied = calls(call('x', 'nope'));
    const model = [same('a'), same('b'), same('c'), denied, says('done')];
    expect(finish(createShell({ model })).stopReason).toBe('completed');
  });

  test('another result is progress', () => {
    const results = [1, 2, 3, 4, 5].map((ok) => ({ ok }));
    const model = ['a', 'b', 'c', 'd', 'e'].map(same);
    const shell = createShell({ model: [...model, says('ok')], outcomes: { read_order: results } });
    expect(finish(shell).stopReason).toBe('completed');
  });
});

describe('the state of a run', () => {
  const READS = calls(call('a', 'read_order'));

  test('tells the task, the goal, when the run began and why it went on the last time', () => {
    const shell = createShell({ model: [READS, says('done')], task: { taskId: 'case-7' } });
    const known = { taskId: 'case-7', goal: 'Handle the case.', startedAt: START };
    expect(viewOfRun(shell.run)).toMatchObject(known);
    expect(viewOfRun(shell.run).transition).toBeUndefined();
    const { stamp } = until(shell, 'transition');
    expect(viewOfRun(shell.run)).toMatchObject({
      ...known,
      transition: { reason: 'next_turn', at: stamp.at },
    });
    crossSegment(shell);
    expect(viewOfRun(shell.run)).toMatchObject({
      ...known,
      transition: { reason: 'continued_as_new' },
    });
  });

  test('tells the beginning of a goal that is long', () => {
    const shell = createShell({ model: [says('done')], task: { goal: 'long '.repeat(10_000) } });
    expect(viewOfRun(shell.run).goal).toHaveLength(4_096);
  });

  test('has no transition under rules before 10', () => {
    const { since } = CHANGES.shownTransition;
    const shell = createShell({ model: [READS, says('done')], rules: since - 1 });
    finish(shell);
    expect(viewOfRun(shell.run).transition).toBeUndefined();
    expect(shell.run.transition).toBeUndefined();
  });
});
