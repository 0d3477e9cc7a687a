import { RULES_VERSION } from '../../../core/step/changes.js';
import type { Finding, RecoveryStep } from '../../../core/state/recovery.js';
import { call, calls, failure, says, tool, type Script, type ToolEntry } from '../script.js';
import {
  answer,
  askOf,
  codesOf,
  createShell,
  executedOf,
  finish,
  ofType,
  send,
  settle,
  started,
  until,
  warningsOf,
  type Shell,
} from '../shell.js';

const HAPPENED: Finding = { kind: 'happened', source: 'probe', content: { text: 'refund 7' } };
const NOT_HAPPENED: Finding = { kind: 'not_happened' };
const LOST = failure('Internal', { timedOut: true });

function send_email(more: Partial<Script>): Script {
  return {
    policy: [{ tool: 'send_email', decision: 'allow' }],
    model: [calls(call('a', 'send_email', { text: 'hi' })), says('done')],
    outcomes: { send_email: [{ ambiguous: 'connection reset' }, { ok: 'sent' }] },
    ...more,
  };
}

function play(more: Partial<Script>): Shell {
  return settle(createShell(send_email(more)));
}

function contentsOf(shell: Shell): readonly unknown[] {
  return ofType(shell, 'tool_finished').map((event) => event.content);
}

describe('an ambiguous end of a mutating call is reconciled before anything else', () => {
  test.each([
    ['an ambiguous outcome', { ambiguous: 'reset' }],
    ['a lost worker', LOST],
  ] as const)('after %s, what the probe finds is the result', (_what, entry) => {
    const shell = play({ outcomes: { send_email: [entry] }, findings: [HAPPENED] });
    expect(finish(shell).stopReason).toBe('completed');
    expect(contentsOf(shell)).toEqual([{ text: 'refund 7' }]);
    expect(executedOf(shell)).toHaveLength(1);
  });

  test('what happened with a result that does not fit is malformed, and not done again', () => {
    const malformed = 'The call took effect, but its result is unusable.';
    const shell = play({ findings: [{ ...HAPPENED, malformed }] });
    expect(finish(shell).stopReason).toBe('completed');
    expect(executedOf(shell)).toHaveLength(1);
    expect(ofType(shell, 'tool_finished')).toMatchObject([
      { code: 'malformed_result', content: { text: malformed }, returned: { text: 'refund 7' } },
    ]);
  });

  test('known not to have happened, it runs again under the same key as the next attempt', () => {
    const shell = play({ findings: [NOT_HAPPENED] });
    expect(finish(shell)).toMatchObject({
      stopReason: 'completed',
      counters: { toolCalls: 1, toolAttempts: 2 },
    });
    expect(executedOf(shell)).toEqual(['a send_email case:0 1', 'a send_email case:0 2']);
    expect(ofType(shell, 'tool_finished')[0]).toMatchObject({ attempts: 2, status: 'ok' });
  });

  test('the cap on tool calls does not keep a counted call from its next attempt', () => {
    const shell = play({ findings: [NOT_HAPPENED], budget: { maxToolCalls: 1 } });
    expect(finish(shell).stopReason).toBe('max_tool_calls');
    expect(codesOf(shell)).toEqual({ a: 'ok' });
  });

  test('a call that is stopped between two attempts is counted once', () => {
    const shell = createShell(
      send_email({ findings: [NOT_HAPPENED], outcomes: { send_email: [LOST] } }),
    );
    const stopped = { timeoutMs: 3 };
    const late = createShell(send_email({ findings: [NOT_HAPPENED], budget: stopped }));
    expect(finish(late).stopReason).toBe('timeout');
    expect(finish(shell).stopReason).toBe('completed');
    expect(finish(shell).counters.toolCalls).toBe(1);
    expect(codesOf(shell)).toEqual({ a: 'execution_error' });
    expect(executedOf(shell)).toHaveLength(5);
  });

  test('a lost read is an error, not a doubt', () => {
    const shell = createShell({
      model: [calls(call('a', 'read_order')), says('ok')],
      outcomes: { read_order: [LOST] },
    });
    finish(shell);
    expect(codesOf(shell)).toEqual({ a: 'timeout' });
    expect(started(shell, 'reconcile_tool')).toEqual([]);
  });
});

describe('a lost call of a tool that repeats with its key', () => {
  const REPEAT: Finding = { kind: 'repeat' };
  const pays = (more: Partial<Script>): Script => ({
    tools: [
      tool('issue_refund', {
        effect: 'financial',
        idempotency: 'keyed',
        onLost: 'repeat_with_key',
      }),
    ],
    policy: [{ tool: 'issue_refund', decision: 'allow' }],
    model: [calls(call('a', 'issue_refund')), says('done')],
    findings: [REPEAT],
    ...more,
  });
  const shellOf = (...outcomes: readonly ToolEntry[]) =>
    settle(createShell(pays({ outcomes: { issue_refund: outcomes } })));

  test('it is made once more under the same key, and says that the one before is in doubt', () => {
    const shell = shellOf(LOST, { ok: 'paid' });
    expect(finish(shell)).toMatchObject({
      stopReason: 'completed',
      counters: { toolCalls: 1, toolAttempts: 2 },
    });
    expect(executedOf(shell)).toEqual(['a issue_refund case:0 1', 'a issue_refund case:0 2']);
    const [first, second] = started(shell, 'execute_tool');
    expect(first?.input.call).not.toHaveProperty('inDoubt');
    expect(second?.input.call).toMatchObject({ inDoubt: true });
    expect(codesOf(shell)).toEqual({ a: 'ok' });
  });

  test.each<[string, ToolEntry]>([
    ['is frozen', { error: 'Nothing was done: the tool is frozen.', code: 'frozen' }],
    ['is over its limit', { error: 'over the limit', code: 'limit_exceeded' }],
    ['was done before', { repeats: ['other:0'] }],
    ['is told that nothing happened by this attempt', { error: 'declined' }],
    ['has a key that is taken', { keyConflict: true }],
  ])('a repetition that %s leaves the first one in doubt: a person is asked', (_what, entry) => {
    const shell = shellOf(LOST, entry, { ok: 'paid' });
    expect(shell.run.shownStatus).toBe('awaiting_outcome');
    expect(askOf(shell)).toMatchObject({ kind: 'outcome', tool: 'issue_refund' });
    answer(shell, { decision: 'not_happened' });
    expect(finish(shell).stopReason).toBe('completed');
    expect(executedOf(shell)).toHaveLength(3);
    // A person has said that none of them happened: the third is an attempt like any first.
    expect(started(shell, 'execute_tool')[2]?.input.call).not.toHaveProperty('inDoubt');
  });

  test('a repetition that took effect with an unusable result is not done again', () => {
    const shell = shellOf(LOST, { error: 'took effect, unusable', code: 'malformed_result' });
    expect(finish(shell).stopReason).toBe('completed');
    expect(codesOf(shell)).toEqual({ a: 'malformed_result' });
    expect(executedOf(shell)).toHaveLength(2);
  });

  test('after five losses a person is asked, not the service once more', () => {
    const shell = shellOf(LOST);
    expect(shell.run.shownStatus).toBe('awaiting_outcome');
    expect(executedOf(shell)).toHaveLength(5);
    expect(askOf(shell).question).toContain('5 attempts');
  });

  test.each([
    [
      RULES_VERSION,
      'execution_error',
      'Nothing was done: 5 attempts ended without an answer, none took effect.',
    ],
    [23, 'outcome_unknown', 'Nobody knows whether this call took effect'],
  ])('what a person says after the last of them is its result (rules %d)', (rules, code, text) => {
    const shell = settle(createShell(pays({ rules, outcomes: { issue_refund: [LOST] } })));
    answer(shell, { decision: 'not_happened' });
    expect(finish(shell).stopReason).toBe('completed');
    expect(codesOf(shell)).toEqual({ a: code });
    expect(contentsOf(shell)).toEqual([{ text: expect.stringContaining(text) }]);
  });

  test('a run that ends before the repetition does not claim that nothing happened', () => {
    const timeoutMs = 3;
    const late = createShell(
      pays({ outcomes: { issue_refund: [{ ambiguous: 'reset' }] }, budget: { timeoutMs } }),
    );
    expect(finish(late).stopReason).toBe('timeout');
    expect(codesOf(late)).toEqual({ a: 'outcome_unknown' });
  });

  test('the record of the run decides: without its word a person is asked', () => {
    const shell = play({ findings: [REPEAT] });
    expect(shell.run.shownStatus).toBe('awaiting_outcome');
    expect(executedOf(shell)).toHaveLength(1);
  });
});

describe('what nobody can find out is asked of a person', () => {
  test('the question names tool, arguments and key; the run awaits the outcome', () => {
    const shell = play({});
    expect(shell.run.shownStatus).toBe('awaiting_outcome');
    expect(askOf(shell)).toMatchObject({
      askId: 'run_1:0:outcome',
      kind: 'outcome',
      tool: 'send_email',
    });
    expect(askOf(shell).question).toContain('case:0');
    expect(executedOf(shell)).toHaveLength(1);
  });

  test('"it happened" gives the value as the result, after the ledger has learned it', () => {
    const shell = play({});
    answer(shell, { decision: 'happened', value: { id: 7 } });
    expect(started(shell, 'record_outcome')[0]?.input).toMatchObject({
      answer: 'happened',
      value: { id: 7 },
      by: ['pat'],
      call: { key: 'case:0', attempt: 1 },
    });
    expect(codesOf(shell)).toEqual({});
    expect(finish(shell).stopReason).toBe('completed');
    expect(contentsOf(shell)).toEqual([{ text: '{"id":7}' }]);
  });

  test('a value that does not fit is malformed: it happened, and is not done again', () => {
    const malformed = 'The call took effect, but its result is unusable.';
    const content = { text: '{"id":"x"}' };
    const unfitValue: Finding = { kind: 'happened', source: 'person', content, malformed };
    const shell = play({ unfitValue });
    answer(shell, { decision: 'happened', value: { id: 'x' } });
    expect(finish(shell).stopReason).toBe('completed');
    expect(executedOf(shell)).toHaveLength(1);
    expect(ofType(shell, 'tool_finished')).toMatchObject([
      { code: 'malformed_result', content: { text: malformed }, returned: content },
    ]);
  });

  test('"it did not happen" runs the next attempt', () => {
    const shell = play({});
    answer(shell, { decision: 'not_happened' });
    expect(finish(shell).stopReason).toBe('completed');
    expect(executedOf(shell)).toEqual(['a send_email case:0 1', 'a send_email case:0 2']);
  });

  test('a second doubt about the same call is a question of its own', () => {
    const shell = play({ outcomes: { send_email: [{ ambiguous: 'reset' }] } });
    answer(shell, { decision: 'not_happened' });
    settle(shell);
    expect(askOf(shell).askId).toBe('run_1:0:outcome:2');
  });

  test.each([['stop'], ['expiry']])('%s ends the run with the outcome unknown', (how) => {
    const shell = play({});
    if (how === 'stop') answer(shell, { decision: 'stop' });
    const result = finish(shell);
    expect(result).toMatchObject({ stopReason: 'needs_human', detail: 'outcome_unknown' });
    expect(result.nextSafeAction).toContain('case:0');
    expect(codesOf(shell)).toEqual({ a: 'outcome_unknown' });
  });

  test('an approval is no answer to it', () => {
    const shell = play({});
    answer(shell, { decision: 'approve' });
    expect(warningsOf(shell)).toEqual(['decision_ignored']);
  });

  test('a failed reconcile is asked of a person too', () => {
    const shell = play({ findings: [failure('StoreUnavailable')] });
    expect(shell.run.shownStatus).toBe('awaiting_outcome');
  });

  test('an interrupt while in doubt asks nobody', () => {
    const shell = play({});
    send(shell, { type: 'interrupt' });
    expect(finish(shell)).toMatchObject({ stopReason: 'interrupted', phase: 'tools' });
    expect(codesOf(shell)).toEqual({ a: 'outcome_unknown' });
    expect(ofType(shell, 'approval_withdrawn')).toHaveLength(1);
  });

  test('an interrupt right after the answer keeps what the person said', () => {
    const shell = play({});
    answer(shell, { decision: 'happened', value: 'sent' });
    shell.inbox.push({ type: 'interrupt', at: shell.now });
    expect(finish(shell).stopReason).toBe('interrupted');
    expect(codesOf(shell)).toEqual({ a: 'ok' });
  });
});

describe('onOutcomeUnknown', () => {
  test('observe lets the model see that nobody knows', () => {
    const shell = play({ settings: { onOutcomeUnknown: 'observe' } });
    expect(finish(shell).stopReason).toBe('completed');
    expect(codesOf(shell)).toEqual({ a: 'outcome_unknown' });
  });

  test('stop ends the run at once', () => {
    const result = finish(play({ settings: { onOutcomeUnknown: 'stop' } }));
    expect(result).toMatchObject({ stopReason: 'needs_human', detail: 'outcome_unknown' });
  });
});

describe('a key that other arguments have taken', () => {
  const conflict: Partial<Script> = {
    policy: [],
    outcomes: { send_email: [{ keyConflict: true }, { ok: 'sent' }] },
  };

  test('gives the call the next revision and a new approval', () => {
    const shell = play(conflict);
    answer(shell);
    settle(shell);
    expect(askOf(shell)).toMatchObject({ askId: 'run_1:0:r1' });
    answer(shell);
    expect(finish(shell).counters).toMatchObject({ toolCalls: 1, toolAttempts: 2 });
    expect(executedOf(shell)).toEqual(['a send_email case:0 1', 'a send_email case:0:r1 1']);
    expect(warningsOf(shell)).toEqual(['key_conflict']);
  });

  test('and the first approval does not stand for the second', () => {
    const shell = play(conflict);
    answer(shell);
    settle(shell);
    answer(shell, { decision: 'reject' });
    expect(finish(shell).counters).toMatchObject({ toolCalls: 1, deniedCalls: 0 });
    expect(codesOf(shell)).toEqual({ a: 'approval_rejected' });
  });

  test('is not tried for ever', () => {
    const policy = [{ tool: '*', decision: 'allow' }] as const;
    const shell = play({ policy, outcomes: { send_email: [{ keyConflict: true }] } });
    expect(finish(shell).stopReason).toBe('completed');
    expect(executedOf(shell)).toHaveLength(6);
    expect(codesOf(shell)).toEqual({ a: 'execution_error' });
  });

  test('interrupted while it is asked again, nothing is unknown', () => {
    const shell = createShell(
      send_email({ ...conflict, policy: [{ tool: '*', decision: 'allow' }] }),
    );
    until(shell, 'tool_started');
    shell.inbox.push({ type: 'interrupt', at: shell.now });
    finish(shell);
    expect(codesOf(shell)).not.toEqual({ a: 'outcome_unknown' });
  });
});

describe('whose word decides what became of an effect', () => {
  test('never that of whoever the run works for: it would be done again for them', () => {
    const shell = play({ task: { caller: 'cora' } });
    answer(shell, { decision: 'not_happened', by: 'cora' });
    expect(warningsOf(shell)).toEqual(['decision_ignored']);
    expect(executedOf(shell)).toHaveLength(1);
    answer(shell, { decision: 'not_happened', by: 'stan' });
    expect(finish(shell).stopReason).toBe('completed');
    expect(executedOf(shell)).toHaveLength(2);
  });
});

describe('what was done to find out is told', () => {
  const recovery: readonly RecoveryStep[] = [
    { step: 'attempt_lost', attempt: 1, claimed: true },
    { step: 'claim_burned', durationMs: 0 },
    { step: 'nobody_told', answer: 'unknown', message: 'no probe', durationMs: 0 },
  ];

  test('before a person is asked, with how long each step took', () => {
    const shell = play({ recovery });
    const [told] = ofType(shell, 'tool_reconciled');
    expect(told).toMatchObject({
      callId: 'a',
      tool: 'send_email',
      key: 'case:0',
      attempt: 1,
      finding: 'unknown',
      steps: [{ step: 'attempt_lost', durationMs: expect.any(Number) }, recovery[1], recovery[2]],
    });
    expect(told!.stamp.seq).toBeLessThan(ofType(shell, 'input_request')[0]!.stamp.seq);
  });

  test('also what became of the word of a person', () => {
    const shell = play({ recovery });
    answer(shell, { decision: 'happened', value: { id: 7 } });
    finish(shell);
    expect(ofType(shell, 'tool_reconciled').map(({ finding }) => finding)).toEqual([
      'unknown',
      'happened',
    ]);
  });

  test('and not by a run whose activities did not say so: its history replays as it was', () => {
    const shell = play({ findings: [HAPPENED] });
    expect(finish(shell).stopReason).toBe('completed');
    expect(ofType(shell, 'tool_reconciled')).toEqual([]);
  });

  test('but no more than so many steps of it', () => {
    const many = Array.from({ length: 100 }, () => recovery[1]!);
    const shell = play({ findings: [HAPPENED], recovery: many });
    expect(ofType(shell, 'tool_reconciled')[0]?.steps.length).toBeLessThanOrEqual(8);
  });
});
