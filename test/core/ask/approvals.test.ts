import { callDigest } from '../../../core/json/json.js';
import { call, calls, decisionOn, says, tool, type Script } from '../script.js';
import {
  answer,
  askOf,
  codesOf,
  createShell,
  executedOf,
  finish,
  ofType,
  pass,
  resultOf,
  send,
  settle,
  tick,
  started,
  together,
  until,
  warningsOf,
  type Shell,
} from '../shell.js';

const ARGS = { order: 'O-104', amount: 50 };
const HOUR = 3_600_000;

function waiting(more: Partial<Script> = {}): Shell {
  const model = [calls(call('a', 'issue_refund', ARGS)), says('done')];
  return settle(createShell({ model, ...more }));
}

function withRule(
  rule: {
    roles?: readonly string[];
    quorum?: number;
    expiresInMs?: number;
  },
  more: Partial<Script> = {},
): Shell {
  const approval = { roles: [], quorum: 1, ...rule };
  const tools = [tool('issue_refund', { effect: 'financial', idempotency: 'keyed', approval })];
  return waiting({ tools, task: { caller: 'carol' }, ...more });
}

function statusOf(shell: Shell): string | undefined {
  return shell.run.shownStatus;
}

describe('a call that needs a person waits for one', () => {
  test('once approved it starts before the status says that the run goes on', () => {
    const shell = waiting();
    const before = shell.effects.length;
    answer(shell);
    const kinds = shell.effects.slice(before).map(({ kind }) => kind);
    expect(kinds).toContain('execute_tool');
    expect(kinds).not.toContain('status');
    tick(shell);
    expect(statusOf(shell)).toBe('running');
  });

  test('S39: the question names the exact action before anything runs; yes executes it once', () => {
    const shell = waiting();
    expect(statusOf(shell)).toBe('awaiting_approval');
    expect(executedOf(shell)).toEqual([]);
    expect(askOf(shell)).toMatchObject({
      askId: 'run_1:0',
      callKey: '0',
      args: ARGS,
      argsHash: callDigest({ tool: 'issue_refund', toolVersion: '1', args: ARGS }),
      policyVersion: '7',
    });
    answer(shell);
    expect(finish(shell).stopReason).toBe('completed');
    expect(executedOf(shell)).toEqual(['a issue_refund case:0 1']);
    expect(ofType(shell, 'approval_resolved')).toMatchObject([
      { outcome: 'approved', by: ['pat'] },
    ]);
  });

  test('S40: no gives the model the reason and executes nothing', () => {
    const shell = waiting();
    answer(shell, { decision: 'reject', reason: 'too high' });
    expect(finish(shell)).toMatchObject({ stopReason: 'completed', counters: { deniedCalls: 1 } });
    expect(executedOf(shell)).toEqual([]);
    expect(ofType(shell, 'tool_finished')).toMatchObject([
      { code: 'approval_rejected', content: { text: 'The approval was rejected: too high' } },
    ]);
  });

  test('S43: an approval does not carry over to other arguments', () => {
    const second = calls(call('b', 'issue_refund', { ...ARGS, amount: 60 }));
    const shell = waiting({
      model: [calls(call('a', 'issue_refund', ARGS)), second, says('done')],
    });
    answer(shell);
    settle(shell);
    expect(askOf(shell)).toMatchObject({ askId: 'run_1:1', callId: 'b' });
    expect(executedOf(shell)).toHaveLength(1);
  });

  test('S45: unanswered, the run needs a person, and the wait costs no active time', () => {
    const shell = waiting({ settings: { approvalTimeoutMs: HOUR }, budget: { timeoutMs: 60_000 } });
    const result = finish(shell);
    expect(result).toMatchObject({ stopReason: 'needs_human', detail: 'approval_timeout' });
    expect(result.counters.waitingMs).toBe(HOUR);
    expect(result.counters.activeMs).toBeLessThan(100);
    expect(codesOf(shell)).toEqual({ a: 'approval_expired' });
  });

  test('unanswered under onApprovalTimeout reject, the model hears it and goes on', () => {
    const settings = { approvalTimeoutMs: HOUR, onApprovalTimeout: 'reject' } as const;
    expect(finish(waiting({ settings })).stopReason).toBe('completed');
  });

  test('an approval that comes late in active time counts against nothing', () => {
    const shell = waiting({ budget: { timeoutMs: 60_000 } });
    pass(shell, 24 * HOUR);
    answer(shell);
    expect(finish(shell).stopReason).toBe('completed');
  });

  test('under timeoutCounts wall the wait does count', () => {
    const settings = { timeoutCounts: 'wall' } as const;
    const shell = waiting({ settings, budget: { timeoutMs: 60_000 } });
    pass(shell, 24 * HOUR);
    expect(finish(shell).stopReason).toBe('timeout');
    expect(executedOf(shell)).toEqual([]);
  });
});

describe('a run that does not wait for approvals', () => {
  test('S46: ends at once and says what needed a word', () => {
    const settings = { approvalMode: 'stop' } as const;
    const result = finish(waiting({ settings }));
    expect(result).toMatchObject({
      stopReason: 'needs_human',
      detail: 'approval_required',
      pendingApproval: { askId: 'run_1:0', callId: 'a', tool: 'issue_refund', args: ARGS },
      counters: { notStartedCalls: 1, waitingMs: 0 },
    });
  });

  test('gives every call its result and leaves no question open', () => {
    const settings = { approvalMode: 'stop' } as const;
    const model = [
      calls(call('a', 'read_order'), call('b', 'issue_refund', ARGS), call('c', 'read_order')),
    ];
    const shell = createShell({ model, settings });
    finish(shell);
    expect(codesOf(shell)).toEqual({ a: 'ok', b: 'not_executed', c: 'not_executed' });
    expect(ofType(shell, 'approval_withdrawn')).toMatchObject([{ askId: 'run_1:0:1' }]);
    expect(started(shell, 'flush')).toEqual([]);
  });
});

describe('only a decision on exactly this question counts', () => {
  test.each([
    ['S41: another hash', { argsHash: 'f'.repeat(64) }, 'approval_mismatch'],
    ['no hash', { argsHash: '' }, 'approval_vague'],
    ['made after the expiry', { decidedAt: Number.MAX_SAFE_INTEGER }, 'approval_late'],
    ['an answer to another kind of question', { decision: 'happened' }, 'decision_ignored'],
    ['a question that is not there', { askId: 'run_1:7' }, 'decision_ignored'],
  ] as const)('%s is ignored and the run still waits', (_what, changes, code) => {
    const shell = waiting();
    answer(shell, changes);
    expect(warningsOf(shell)).toEqual([code]);
    expect(statusOf(shell)).toBe('awaiting_approval');
    expect(executedOf(shell)).toEqual([]);
  });

  test('a role that the tool asks for must be there', () => {
    const shell = withRule({ roles: ['refund-manager'] });
    answer(shell, { roles: ['clerk'] });
    expect(warningsOf(shell)).toEqual(['decision_ignored']);
    answer(shell, { roles: ['clerk', 'refund-manager'] });
    expect(finish(shell).stopReason).toBe('completed');
  });

  test('nobody decides on their own request', () => {
    const shell = withRule({});
    answer(shell, { by: 'carol' });
    expect(warningsOf(shell)).toEqual(['decision_ignored']);
    expect(statusOf(shell)).toBe('awaiting_approval');
  });

  test('a quorum of two needs two people', () => {
    const shell = withRule({ quorum: 2 });
    answer(shell, { by: 'ann' });
    answer(shell, { by: 'ann' });
    expect(warningsOf(shell)).toEqual(['approval_duplicate']);
    expect(executedOf(shell)).toEqual([]);
    answer(shell, { by: 'bob' });
    expect(ofType(shell, 'approval_resolved')).toMatchObject([{ by: ['ann', 'bob'] }]);
    expect(finish(shell).stopReason).toBe('completed');
  });

  test('one no ends a quorum', () => {
    const shell = withRule({ quorum: 2 });
    answer(shell, { by: 'ann' });
    answer(shell, { by: 'bob', decision: 'reject' });
    finish(shell);
    expect(codesOf(shell)).toEqual({ a: 'approval_rejected' });
  });

  test('the first valid answer wins, in one activation as in two', () => {
    const shell = waiting();
    const ask = askOf(shell);
    const no = decisionOn(ask, { by: 'ann', decision: 'reject' });
    const yes = decisionOn(ask, { by: 'bob' });
    send(
      shell,
      { type: 'decision', decision: no },
      { type: 'decision', decision: yes, ticket: 't1' },
    );
    expect(shell.verdicts).toMatchObject([
      { ticket: 't1', verdict: { accepted: false, reason: 'already_decided' } },
    ]);
    finish(shell);
    expect(codesOf(shell)).toEqual({ a: 'approval_rejected' });
  });

  test('a second answer while the call runs changes nothing', () => {
    const shell = waiting();
    const ask = askOf(shell);
    answer(shell);
    const decision = decisionOn(ask, { by: 'ann', decision: 'reject' });
    send(shell, { type: 'decision', decision, ticket: 't1' });
    expect(shell.verdicts[0]?.verdict).toMatchObject({ reason: 'already_decided' });
    expect(finish(shell).stopReason).toBe('completed');
    expect(executedOf(shell)).toHaveLength(1);
  });

  test('the sender of an accepted decision learns what it decided', () => {
    const shell = waiting();
    send(shell, { type: 'decision', decision: decisionOn(askOf(shell)), ticket: 't1' });
    expect(shell.verdicts).toEqual([
      { ticket: 't1', verdict: { accepted: true, outcome: 'approved' } },
    ]);
  });
});

describe('a decision counts by when it was made', () => {
  test.each(['timer first', 'decision first'])(
    'made in time, together with the expiry (%s)',
    (order) => {
      const shell = withRule({ expiresInMs: HOUR });
      const ask = askOf(shell);
      const decision = decisionOn(ask, { decidedAt: ask.expiresAt });
      const input = { type: 'decision', decision } as const;
      pass(shell, ask.expiresAt - 1 - shell.now);
      together(shell, order === 'timer first' ? ['timer', input] : [input, 'timer']);
      expect(finish(shell).stopReason).toBe('completed');
      expect(executedOf(shell)).toHaveLength(1);
    },
  );

  test.each([
    [60_000, undefined, 1],
    [60_001, undefined, 0],
    [60_001, 9, 1],
  ])('dated %i ms ahead of the time at which it comes (rules %s)', (ahead, rules, executed) => {
    const shell = withRule({ expiresInMs: HOUR }, rules === undefined ? {} : { rules });
    const decision = decisionOn(askOf(shell), { decidedAt: shell.now + ahead, nonce: 'n' });
    send(shell, { type: 'decision', decision, ticket: 't' });
    settle(shell);
    expect(executedOf(shell)).toHaveLength(executed);
    const [told] = shell.verdicts;
    if (executed === 0) {
      expect(told?.verdict).toMatchObject({ accepted: false, reason: 'clock_ahead' });
      expect(ofType(shell, 'warning')).toMatchObject([{ about: { reason: 'clock_ahead' } }]);
      pass(shell, 1);
      send(shell, { type: 'decision', decision, ticket: 'later' });
      settle(shell);
      expect(executedOf(shell)).toHaveLength(1);
    }
    finish(shell);
  });

  test('made too late, delivered before the timer fired, it does not count', () => {
    const shell = withRule({ expiresInMs: HOUR });
    const ask = askOf(shell);
    const decision = decisionOn(ask, { decidedAt: ask.expiresAt + 1 });
    together(shell, [{ type: 'decision', decision }, 'timer']);
    expect(finish(shell).detail).toBe('approval_timeout');
  });

  test('after the run has begun to stop, it is named as unprocessed', () => {
    const shell = withRule({ expiresInMs: HOUR });
    const decision = decisionOn(askOf(shell));
    pass(shell, HOUR - 1);
    together(shell, ['timer']);
    send(shell, { type: 'decision', decision, ticket: 't1' });
    expect(shell.verdicts[0]?.verdict).toMatchObject({ accepted: false, reason: 'run_closing' });
    finish(shell);
    expect(resultOf(shell).unprocessed).toEqual(['decision']);
  });

  test('made before the question was open, it waits for the question', () => {
    const two = calls(call('r', 'read_order'), call('a', 'issue_refund', ARGS));
    const shell = createShell({ model: [two, says('done')] });
    until(shell, 'tool_started', { callId: 'r' });
    const argsHash = callDigest({ tool: 'issue_refund', toolVersion: '1', args: ARGS });
    const decision = {
      v: 1,
      askId: 'run_1:0:1',
      argsHash,
      decision: 'approve',
      by: 'pat',
      roles: [],
      decidedAt: 1,
    } as const;
    send(shell, { type: 'decision', decision, ticket: 't1' });
    expect(shell.verdicts[0]?.verdict).toEqual({ accepted: true, outcome: 'pending' });
    expect(finish(shell).stopReason).toBe('completed');
    expect(ofType(shell, 'approval_requested')).toHaveLength(1);
    expect(executedOf(shell)).toHaveLength(2);
  });
});
