import { call, calls, says, tool, type Script } from '../script.js';
import {
  answer,
  askOf,
  codesOf,
  createShell,
  crossSegment,
  executedOf,
  finish,
  ofType,
  pass,
  send,
  settle,
  started,
  warningsOf,
  type Shell,
} from '../shell.js';

const ARGS = { order: 'O-104', amount: 50 };
const HOUR = 3_600_000;
const REPEAT = 'run_1:0:repeat';

interface Played extends Partial<Script> {
  readonly approval?: 'never' | { readonly roles: readonly string[]; readonly quorum: number };
}

/** The worker says that the same was done before, once or as often as given. */
function played({ approval = 'never', ...more }: Played = {}): Shell {
  const tools = [tool('issue_refund', { effect: 'financial', idempotency: 'keyed', approval })];
  const model = [calls(call('a', 'issue_refund', ARGS)), says('done')];
  const outcomes = { issue_refund: [{ repeats: ['k1'] }, { ok: 'paid' }] };
  return settle(createShell({ tools, model, outcomes, ...more }));
}

function grantsOf(shell: Shell): readonly unknown[] {
  return started(shell, 'execute_tool').map(({ input }) => input.grant);
}

describe('a call whose effect was brought about before', () => {
  test('is parked, and the question shows what was done', () => {
    const shell = played();
    expect(shell.run.shownStatus).toBe('awaiting_approval');
    expect(askOf(shell)).toMatchObject({
      askId: REPEAT,
      kind: 'approval',
      args: ARGS,
      question: expect.stringMatching(
        /^issue_refund was already done for O-104: once, last by run_0/,
      ),
      repeats: { identity: ['O-104'], earlier: [{ key: 'k1', runId: 'run_0', state: 'done' }] },
    });
    expect(ofType(shell, 'permission').at(-1)).toMatchObject({ decision: 'ask', rule: 'identity' });
  });

  test('approved, exactly that call runs, under its own key, for whoever saw what was done', () => {
    const shell = played();
    answer(shell, { by: 'mia' });
    expect(finish(shell).stopReason).toBe('completed');
    expect(executedOf(shell)).toEqual(['a issue_refund case:0 1', 'a issue_refund case:0 1']);
    expect(grantsOf(shell)[0]).not.toHaveProperty('repeats');
    expect(grantsOf(shell)[1]).toMatchObject({
      basis: 'ask',
      reference: REPEAT,
      approvedBy: ['mia'],
      repeats: ['k1'],
    });
    expect(shell.run.tally).toMatchObject({ toolCalls: 1 });
    expect(codesOf(shell)).toEqual({ a: 'ok' });
  });

  test('rejected, nothing runs, and the model hears why', () => {
    const shell = played();
    answer(shell, { decision: 'reject', reason: 'once is enough' });
    expect(finish(shell).stopReason).toBe('completed');
    expect(executedOf(shell)).toHaveLength(1);
    expect(codesOf(shell)).toEqual({ a: 'approval_rejected' });
  });

  test('the approval of the call itself is no approval of doing it twice', () => {
    const shell = played({ approval: { roles: ['lead'], quorum: 2 }, task: { caller: 'cora' } });
    answer(shell, { by: 'lea', roles: ['lead'] });
    answer(shell, { by: 'leo', roles: ['lead'] });
    settle(shell);
    expect(askOf(shell)).toMatchObject({ askId: REPEAT, roles: ['lead'], quorum: 2 });
    answer(shell, { by: 'cora', roles: ['lead'] });
    answer(shell, { by: 'stan', roles: ['clerk'] });
    expect(warningsOf(shell)).toEqual(['decision_ignored', 'decision_ignored']);
    answer(shell, { by: 'lea', roles: ['lead'] });
    expect(executedOf(shell)).toHaveLength(1);
    answer(shell, { by: 'leo', roles: ['lead'] });
    finish(shell);
    expect(codesOf(shell)).toEqual({ a: 'ok' });
  });

  test('what was done meanwhile is asked about as well, under an id of its own, but not for ever', () => {
    const entries = [1, 2, 3, 4, 5, 6].map((n) => ({ repeats: [`k${n}`] }));
    const shell = played({ outcomes: { issue_refund: entries } });
    const asked: string[] = [];
    for (let times = 0; times < 5; times += 1) {
      asked.push(askOf(shell).askId);
      answer(shell);
      settle(shell);
    }
    expect(asked).toEqual([REPEAT, ...[2, 3, 4, 5].map((n) => `${REPEAT}:${n}`)]);
    expect(finish(shell).stopReason).toBe('completed');
    expect(codesOf(shell)).toEqual({ a: 'permission_denied' });
  });

  test('where nobody may be asked it is refused', () => {
    const shell = played({ settings: { permissionMode: 'dontAsk' } });
    finish(shell);
    expect(codesOf(shell)).toEqual({ a: 'permission_denied' });
    expect(ofType(shell, 'approval_requested')).toEqual([]);
  });

  test('a mode that allows the tool does not answer for the person', () => {
    const settings = { allowBypassPermissions: true } as const;
    const shell = played({ settings });
    send(shell, { type: 'set_permission_mode', mode: 'bypassPermissions' });
    settle(shell);
    expect(askOf(shell).askId).toBe(REPEAT);
    expect(executedOf(shell)).toHaveLength(1);
  });

  test.each([
    ['dontAsk', 2],
    ['plan', 1],
  ] as const)('a change to %s ends the question without doing it', (mode, executions) => {
    const outcomes = { issue_refund: [{ repeats: ['k1'] }] };
    const shell = played({ outcomes });
    send(shell, { type: 'set_permission_mode', mode });
    finish(shell);
    expect(codesOf(shell)).toEqual({ a: 'permission_denied' });
    expect(ofType(shell, 'approval_withdrawn')).toMatchObject([{ askId: REPEAT }]);
    expect(executedOf(shell)).toHaveLength(executions);
  });

  test('a standing grant cannot be made of it', () => {
    const shell = played({ settings: { allowStandingGrants: true } });
    const when = [{ path: 'amount', lte: 50 }];
    const grant = { matcher: { tool: 'issue_refund', when }, uses: 5, expiresInMs: HOUR };
    answer(shell, { grant });
    expect(warningsOf(shell)).toEqual(['decision_ignored']);
  });

  test('corrected, it is another call with a key of its own, and is looked at anew', () => {
    const shell = played();
    answer(shell, { decision: 'modify', args: { order: 'O-105', amount: 50 } });
    finish(shell);
    expect(executedOf(shell)).toEqual(['a issue_refund case:0 1', 'a issue_refund case:0:r1 1']);
    expect(grantsOf(shell)[1]).not.toHaveProperty('repeats');
  });

  test('a refused correction leaves the question with what it shows', () => {
    const check = () => ({ ok: false, code: 'invalid_arguments', message: 'no' }) as const;
    const shell = played({ check });
    answer(shell, { decision: 'modify', args: { order: 'O-105' } });
    settle(shell);
    expect(askOf(shell)).toMatchObject({ askId: REPEAT, repeats: { identity: ['O-104'] } });
    answer(shell, { by: 'mia' });
    finish(shell);
    expect(grantsOf(shell)[1]).toMatchObject({ repeats: ['k1'] });
  });

  test('it outlives a segment; nobody decides: it expires', () => {
    const shell = played({ settings: { approvalTimeoutMs: HOUR, onApprovalTimeout: 'reject' } });
    crossSegment(shell);
    expect(askOf(shell).askId).toBe(REPEAT);
    pass(shell, 2 * HOUR);
    finish(shell);
    expect(codesOf(shell)).toEqual({ a: 'approval_expired' });
  });

  test('an interrupt ends it, and it is known that nothing happened', () => {
    const shell = played();
    send(shell, { type: 'interrupt' });
    expect(finish(shell).stopReason).toBe('interrupted');
    expect(codesOf(shell)).toEqual({ a: 'interrupted' });
    expect(executedOf(shell)).toHaveLength(1);
  });
});
