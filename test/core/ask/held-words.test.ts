/** G119: what others say while a correction is checked is held with it, and whoever loses hears of it. */
import type { Decision } from '../../../core/state/ask.js';
import { viewOfRun } from '../../../core/loop/run-result.js';
import { RULES_VERSION } from '../../../core/step/changes.js';
import { auditOf } from '../../../pure/audit-events.js';
import { call, calls, decisionOn, says, tool, TOOLBOX, type Script } from '../script.js';
import {
  askOf,
  codesOf,
  createShell,
  crossSegment,
  executedOf,
  finish,
  ofType,
  post,
  activate,
  send,
  settle,
  started,
  tick,
  type Outside,
  type Shell,
} from '../shell.js';

const ARGS = { order: 'O-104', amount: 50 };
const LESS = { order: 'O-104', amount: 40 };

function waiting(more: Partial<Script> = {}, quorum = 1): Shell {
  const model = [calls(call('a', 'issue_refund', ARGS)), says('done')];
  const approval = { roles: [], quorum };
  const tools = [
    tool('issue_refund', { effect: 'financial', idempotency: 'keyed', approval }),
    ...TOOLBOX.filter(({ name }) => name !== 'issue_refund'),
  ];
  return settle(createShell({ model, tools, ...more }));
}

/** Decides as an Update does: with a ticket, here the person's name, on which the sender waits. */
function word(shell: Shell, by: string, changes: Partial<Decision> = {}): Outside {
  const said = { by, nonce: `nonce-${by}`, decidedAt: shell.now, ...changes };
  return { type: 'decision', decision: decisionOn(askOf(shell), said), ticket: by };
}

const modify = { decision: 'modify', args: LESS } as const;
const reject = { decision: 'reject', reason: 'fraud' } as const;

function verdictOf(shell: Shell, by: string) {
  return shell.verdicts.filter(({ ticket }) => ticket === by).at(-1)?.verdict;
}

/** The refused decisions, as the trail has them. */
function ignored(shell: Shell) {
  const rows = ofType(shell, 'warning').flatMap((event) => auditOf(event));
  return rows.filter(({ kind }) => kind === 'ignored').map(({ facts }) => facts);
}

describe('a rejection that meets a correction', () => {
  test('while it is checked beats it: nothing goes out, and the corrector is told by whom and when', () => {
    const shell = waiting();
    send(shell, word(shell, 'ann', modify));
    const at = shell.now;
    send(shell, word(shell, 'bob', reject));
    expect(verdictOf(shell, 'bob')).toBeUndefined();
    settle(shell);
    expect(verdictOf(shell, 'bob')).toEqual({ accepted: true, outcome: 'rejected' });
    expect(verdictOf(shell, 'ann')).toEqual({
      accepted: false,
      reason: 'already_decided',
      message: 'this ask was rejected by bob',
      decided: { outcome: 'rejected', by: 'bob', at },
    });
    expect(ignored(shell)).toMatchObject([
      { by: 'ann', decision: 'modify', reason: 'already_decided', nonce: 'nonce-ann' },
    ]);
    finish(shell);
    expect(executedOf(shell)).toEqual([]);
    expect(codesOf(shell)).toEqual({ a: 'approval_rejected' });
    expect(ofType(shell, 'approval_resolved')).toMatchObject([
      { outcome: 'rejected', by: ['bob'], reason: 'fraud' },
    ]);
  });

  test('in the same moment beats it before anything is checked', () => {
    const shell = waiting();
    post(shell, word(shell, 'ann', modify), word(shell, 'bob', reject));
    activate(shell);
    settle(shell);
    expect(started(shell, 'check_call')).toEqual([]);
    expect(verdictOf(shell, 'bob')).toEqual({ accepted: true, outcome: 'rejected' });
    finish(shell);
    expect(executedOf(shell)).toEqual([]);
  });

  test('of the corrector is a change of mind, and counts', () => {
    const shell = waiting();
    send(shell, word(shell, 'ann', modify));
    send(shell, {
      ...word(shell, 'ann', { ...reject, nonce: 'other' }),
      ticket: 'again',
    } as Outside);
    settle(shell);
    expect(verdictOf(shell, 'again')).toEqual({ accepted: true, outcome: 'rejected' });
    finish(shell);
    expect(executedOf(shell)).toEqual([]);
  });

  test('is dropped under older rules, as their histories say', () => {
    const shell = waiting({ rules: 9 });
    send(shell, word(shell, 'ann', modify));
    send(shell, word(shell, 'bob', reject));
    expect(verdictOf(shell, 'bob')).toEqual({ accepted: true, outcome: 'pending' });
    finish(shell);
    expect(executedOf(shell)).toEqual(['a issue_refund case:0:r1 1']);
    expect(RULES_VERSION).toBeGreaterThan(9);
  });
});

describe('other words that meet a correction', () => {
  test('lose against it when it is taken, and say so to their sender and to the trail', () => {
    const shell = waiting();
    send(shell, word(shell, 'ann', modify));
    const at = shell.now;
    send(shell, word(shell, 'bob'));
    settle(shell);
    expect(verdictOf(shell, 'ann')).toEqual({ accepted: true, outcome: 'modified' });
    expect(verdictOf(shell, 'bob')).toMatchObject({
      accepted: false,
      reason: 'already_decided',
      decided: { outcome: 'modified', by: 'ann', at },
    });
    expect(ignored(shell)).toMatchObject([
      { by: 'bob', decision: 'approve', reason: 'already_decided', decided: { by: 'ann' } },
    ]);
    finish(shell);
    expect(executedOf(shell)).toEqual(['a issue_refund case:0:r1 1']);
  });

  test('count when it is refused: a rejection first, then in their order', () => {
    const check = () => ({ ok: false, code: 'invalid_arguments', message: 'amount: no' }) as const;
    const shell = waiting({ check }, 2);
    send(shell, word(shell, 'ann', modify));
    send(shell, word(shell, 'bob'));
    send(shell, word(shell, 'cid'));
    send(shell, word(shell, 'dan'));
    settle(shell);
    expect(verdictOf(shell, 'ann')).toMatchObject({ reason: 'correction_refused' });
    expect(verdictOf(shell, 'bob')).toEqual({ accepted: true, outcome: 'pending' });
    expect(verdictOf(shell, 'cid')).toEqual({ accepted: true, outcome: 'approved' });
    expect(verdictOf(shell, 'dan')).toMatchObject({
      reason: 'already_decided',
      decided: { outcome: 'approved', by: 'cid' },
    });
    finish(shell);
    expect(executedOf(shell)).toEqual(['a issue_refund case:0 1']);
  });

  test('are one of each person and twenty in all; the same word sent again is no second one', () => {
    const shell = waiting();
    send(shell, word(shell, 'ann', modify));
    send(shell, word(shell, 'p0'));
    send(shell, { ...word(shell, 'p0'), ticket: 'same' } as Outside);
    expect(verdictOf(shell, 'same')).toEqual({ accepted: true, outcome: 'pending' });
    send(shell, { ...word(shell, 'p0', { nonce: 'new' }), ticket: 'other' } as Outside);
    expect(verdictOf(shell, 'other')).toMatchObject({ reason: 'duplicate' });
    for (let nth = 1; nth < 20; nth += 1) send(shell, word(shell, `p${nth}`));
    send(shell, word(shell, 'late'));
    expect(verdictOf(shell, 'late')).toMatchObject({ reason: 'busy' });
    settle(shell);
    expect(verdictOf(shell, 'p19')).toMatchObject({ reason: 'already_decided' });
    finish(shell);
  });

  test('go along into the next segment; their senders hear that nothing is decided yet', () => {
    const shell = waiting();
    send(shell, word(shell, 'ann', modify));
    send(shell, word(shell, 'bob', reject));
    crossSegment(shell);
    expect(verdictOf(shell, 'ann')).toEqual({ accepted: true, outcome: 'pending' });
    expect(verdictOf(shell, 'bob')).toEqual({ accepted: true, outcome: 'pending' });
    finish(shell);
    expect(executedOf(shell)).toEqual([]);
    expect(ignored(shell)).toMatchObject([{ by: 'ann', reason: 'already_decided' }]);
  });

  test('are refused with it when the question closes before it is checked', () => {
    const shell = waiting();
    send(shell, word(shell, 'ann', modify));
    send(shell, word(shell, 'bob', reject));
    send(shell, { type: 'interrupt' });
    finish(shell);
    for (const by of ['ann', 'bob']) {
      expect(verdictOf(shell, by)).toMatchObject({ accepted: false, reason: 'already_decided' });
    }
    expect(ignored(shell)).toMatchObject([{ by: 'ann' }, { by: 'bob' }]);
  });
});

test('whoever comes after the end of a question hears who decided it, and when', () => {
  const shell = waiting();
  const late = word(shell, 'bob', reject);
  send(shell, word(shell, 'ann'));
  const at = shell.now;
  send(shell, late);
  const decided = { outcome: 'approved', by: 'ann', at };
  expect(verdictOf(shell, 'bob')).toMatchObject({ reason: 'already_decided', decided });
  settle(shell);
  send(shell, late);
  finish(shell);
});

test('who waits for a correction that a used-up budget leaves out hears so at once', () => {
  const ask = {
    effect: 'financial',
    idempotency: 'keyed',
    approval: { roles: [], quorum: 1 },
  } as const;
  const last = { ...says('so far'), delayMs: 300_000 };
  const shell = waiting({
    tools: [tool('issue_refund', ask), tool('x_credit', ask), tool('x_note', ask)],
    model: [
      calls(
        call('a', 'issue_refund', ARGS),
        call('b', 'x_credit', ARGS),
        call('c', 'x_note', ARGS),
      ),
      last,
    ],
    settings: { toolExecution: 'dataflow', wrapUpTurn: true },
    budget: { maxToolCalls: 1 },
  });
  const [first, second, third] = viewOfRun(shell.run).asks;
  const approve = (one: typeof first): Outside => ({
    type: 'decision',
    decision: decisionOn(one!, { decidedAt: shell.now }),
  });
  send(shell, approve(second));
  settle(shell);
  const said = { ...modify, by: 'ann', nonce: 'n', decidedAt: shell.now };
  send(shell, { type: 'decision', decision: decisionOn(first!, said), ticket: 'ann' });
  send(shell, {
    type: 'decision',
    decision: decisionOn(first!, { by: 'bob', nonce: 'm', decidedAt: shell.now }),
    ticket: 'bob',
  });
  send(shell, approve(third));
  const from = shell.now;
  for (let steps = 0; steps < 4 && verdictOf(shell, 'bob') === undefined; steps += 1) tick(shell);
  expect(shell.now - from).toBeLessThan(10_000);
  for (const by of ['ann', 'bob']) {
    expect(verdictOf(shell, by)).toMatchObject({ accepted: false, reason: 'already_decided' });
  }
  expect(viewOfRun(shell.run).asks).toEqual([]);
  expect(finish(shell).stopReason).toBe('max_tool_calls');
});
