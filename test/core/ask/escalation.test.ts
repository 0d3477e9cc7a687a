import { call, calls, decisionOn, says, tool, type Script } from '../script.js';
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
  post,
  activate,
  send,
  settle,
  warningsOf,
  type Shell,
} from '../shell.js';

const HOUR = 3_600_000;
const ARGS = { order: 'O-104', amount: 50 };
const LEAD = { by: 'lea', roles: ['lead'] };
const DIRECTOR = { by: 'dan', roles: ['director'] };

/** Leads decide, and after four hours directors as well. */
function waiting(more: { readonly quorum?: number } & Partial<Script> = {}): Shell {
  const { quorum = 1, ...script } = more;
  const approval = {
    roles: ['lead'],
    quorum,
    expiresInMs: 24 * HOUR,
    escalate: { afterMs: 4 * HOUR, roles: ['director'] },
  };
  const tools = [tool('issue_refund', { effect: 'financial', idempotency: 'keyed', approval })];
  const model = [calls(call('a', 'issue_refund', ARGS)), says('done')];
  return settle(createShell({ tools, model, ...script }));
}

describe('a question that nobody decides goes to others as well', () => {
  test('they are named from the start, with the moment from which on they may decide', () => {
    const shell = waiting();
    const { openedAt } = askOf(shell);
    expect(askOf(shell)).toMatchObject({
      roles: ['lead'],
      escalation: { at: openedAt + 4 * HOUR, roles: ['director'] },
    });
  });

  test('before that moment their word does not count, from it on it does', () => {
    const shell = waiting();
    pass(shell, askOf(shell).openedAt + 4 * HOUR - 1 - shell.now);
    answer(shell, DIRECTOR);
    expect(warningsOf(shell)).toEqual(['decision_ignored']);
    expect(ofType(shell, 'approval_escalated')).toEqual([]);
    pass(shell, 1);
    expect(ofType(shell, 'approval_escalated')).toMatchObject([
      { askId: 'run_1:0', callId: 'a', roles: ['director'] },
    ]);
    answer(shell, DIRECTOR);
    expect(finish(shell).stopReason).toBe('completed');
    expect(executedOf(shell)).toHaveLength(1);
    expect(ofType(shell, 'approval_resolved')).toMatchObject([{ by: ['dan'] }]);
  });

  test('a clock that is ahead does not bring that moment nearer', () => {
    for (const rules of [9, undefined]) {
      const shell = waiting(rules === undefined ? {} : { rules });
      const ask = askOf(shell);
      pass(shell, ask.openedAt + 4 * HOUR - 30_000 - shell.now);
      answer(shell, { ...DIRECTOR, decidedAt: ask.openedAt + 4 * HOUR });
      settle(shell);
      expect(executedOf(shell)).toHaveLength(rules === 9 ? 1 : 0);
      expect(warningsOf(shell)).toEqual(rules === 9 ? [] : ['decision_ignored']);
      finish(shell);
    }
  });

  test('when they decided is what counts, not when the run hears of it', () => {
    const shell = waiting();
    const ask = askOf(shell);
    const early = decisionOn(ask, { ...DIRECTOR, decidedAt: ask.openedAt + HOUR });
    pass(shell, 5 * HOUR);
    send(shell, { type: 'decision', decision: early });
    expect(warningsOf(shell)).toEqual(['decision_ignored']);
    expect(executedOf(shell)).toEqual([]);
  });

  test('a decision that comes in the same moment as the timer counts, whichever is heard first', () => {
    const shell = waiting();
    const decision = decisionOn(askOf(shell), {
      ...DIRECTOR,
      decidedAt: askOf(shell).openedAt + 4 * HOUR,
    });
    shell.now = decision.decidedAt;
    post(shell, { type: 'decision', decision });
    activate(shell);
    expect(finish(shell).stopReason).toBe('completed');
    expect(ofType(shell, 'approval_escalated')).toEqual([]);
  });

  test('who could decide before still can, and votes from both sides make a quorum', () => {
    const shell = waiting({ quorum: 2 });
    answer(shell, LEAD);
    pass(shell, 5 * HOUR);
    answer(shell, DIRECTOR);
    expect(finish(shell).stopReason).toBe('completed');
    expect(ofType(shell, 'approval_resolved')).toMatchObject([{ by: ['lea', 'dan'] }]);
  });

  test('one that is decided in time never escalates, and leaves no timer', () => {
    const shell = waiting();
    answer(shell, LEAD);
    expect(Object.keys(shell.run.inflight).filter((id) => id.startsWith('timer'))).toEqual([]);
    finish(shell);
    expect(ofType(shell, 'approval_escalated')).toEqual([]);
  });

  test('it still expires when the others do not decide either', () => {
    const shell = waiting();
    pass(shell, 25 * HOUR);
    finish(shell);
    expect(codesOf(shell)).toEqual({ a: 'approval_expired' });
    expect(ofType(shell, 'approval_escalated')).toHaveLength(1);
  });

  test('it outlives a segment, and is told once', () => {
    const shell = waiting();
    crossSegment(shell);
    pass(shell, 4 * HOUR);
    crossSegment(shell);
    pass(shell, HOUR);
    expect(ofType(shell, 'approval_escalated')).toHaveLength(1);
    answer(shell, DIRECTOR);
    expect(finish(shell).stopReason).toBe('completed');
  });

  test('a correction does not make the others wait anew', () => {
    const shell = waiting({ quorum: 2 });
    pass(shell, 5 * HOUR);
    answer(shell, { ...DIRECTOR, decision: 'modify', args: { ...ARGS, amount: 30 } });
    settle(shell);
    expect(askOf(shell)).toMatchObject({ askId: 'run_1:0:r1', args: { amount: 30 } });
    answer(shell, LEAD);
    expect(finish(shell).stopReason).toBe('completed');
    expect(ofType(shell, 'approval_resolved').at(-1)).toMatchObject({ by: ['dan', 'lea'] });
  });
});
