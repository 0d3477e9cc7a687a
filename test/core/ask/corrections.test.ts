import { callDigest, type Json } from '../../../core/json/json.js';
import type { ToolRecord } from '../../../core/state/tool.js';
import { call, calls, decisionOn, says, tool, TOOLBOX, type Script } from '../script.js';
import {
  answer,
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
  until,
  warningsOf,
  type Shell,
} from '../shell.js';

const ARGS = { order: 'O-104', amount: 50 };
const LESS = { order: 'O-104', amount: 40 };

function waiting(more: Partial<Script> = {}): Shell {
  const model = [calls(call('a', 'issue_refund', ARGS)), says('done')];
  return settle(createShell({ model, ...more }));
}

function refundOf(approval: { roles?: readonly string[]; quorum?: number }): readonly ToolRecord[] {
  const record = { effect: 'financial', idempotency: 'keyed' } as const;
  const rule = { roles: [], quorum: 1, ...approval };
  return [
    tool('issue_refund', { ...record, approval: rule }),
    ...TOOLBOX.filter(({ name }) => name !== 'issue_refund'),
  ];
}

function modify(shell: Shell, args: Json = LESS, who: { by?: string; roles?: string[] } = {}) {
  answer(shell, { decision: 'modify', args, ...who });
  settle(shell);
}

function argsExecuted(shell: Shell): readonly Json[] {
  return started(shell, 'execute_tool').map(({ input }) => input.call.args);
}

/** Decides as an Update does: with a ticket on which the sender waits. */
function update(shell: Shell, changes: Parameters<typeof decisionOn>[1], ticket: string): void {
  const decision = decisionOn(askOf(shell), { decidedAt: shell.now, ...changes });
  send(shell, { type: 'decision', decision, ticket });
}

function verdictOf(shell: Shell, ticket: string) {
  return shell.verdicts.find((one) => one.ticket === ticket)?.verdict;
}

describe('a correction of the arguments', () => {
  test('is checked, bound anew under the next key, and runs on the word of who made it', () => {
    const shell = waiting();
    modify(shell);
    const result = finish(shell);
    expect(result.stopReason).toBe('completed');
    expect(argsExecuted(shell)).toEqual([LESS]);
    expect(executedOf(shell)).toEqual(['a issue_refund case:0:r1 1']);
    expect(result.counters).toMatchObject({ toolCalls: 1, proposedCalls: 1 });
    const { grant, call: executed } = started(shell, 'execute_tool')[0]!.input;
    const digest = callDigest({ tool: 'issue_refund', toolVersion: '1', args: LESS });
    expect(executed.digest).toBe(digest);
    expect(grant).toMatchObject({ reference: 'run_1:0:r1', digest, approvedBy: ['pat'] });
  });

  test('tells both actions, and asks again about the new one', () => {
    const shell = waiting();
    answer(shell, { decision: 'modify', args: LESS, reason: 'too much' });
    finish(shell);
    expect(ofType(shell, 'approval_resolved')).toMatchObject([
      {
        askId: 'run_1:0',
        outcome: 'modified',
        by: ['pat'],
        reason: 'too much',
        original: { tool: 'issue_refund', args: ARGS },
        corrected: { tool: 'issue_refund', args: LESS },
      },
      { askId: 'run_1:0:r1', outcome: 'approved', by: ['pat'] },
    ]);
    expect(ofType(shell, 'permission').map((event) => event.decision)).toEqual(['ask', 'ask']);
    expect(ofType(shell, 'approval_requested').map((event) => event.args)).toEqual([ARGS, LESS]);
  });

  test('leaves the call of the model as it is; its result says what was executed', () => {
    const shell = waiting();
    modify(shell);
    finish(shell);
    const results = shell.transcript.messages.find((message) => message.role === 'R');
    expect(results?.notes[0]).toBe(
      'User modified this call: executed issue_refund {"order":"O-104","amount":40}',
    );
  });

  test('S48: that is not valid is refused to whoever made it; the original stays open', () => {
    const check = () => ({ ok: false, code: 'invalid_arguments', message: 'amount: no' }) as const;
    const shell = waiting({ check });
    const before = askOf(shell);
    update(shell, { decision: 'modify', args: { ...ARGS, amount: 'x' } }, 't1');
    settle(shell);
    expect(verdictOf(shell, 't1')).toEqual({
      accepted: false,
      reason: 'correction_refused',
      message: 'amount: no',
    });
    expect(warningsOf(shell)).toEqual(['correction_refused']);
    expect(askOf(shell)).toEqual(before);
    expect(shell.run.shownStatus).toBe('awaiting_approval');
    answer(shell);
    finish(shell);
    expect(argsExecuted(shell)).toEqual([ARGS]);
  });

  test('that the policy denies is refused, and nothing of it is on record as permitted', () => {
    const when = { path: 'amount', lte: 45 };
    const policy = [
      { tool: 'issue_refund', decision: 'deny', reason: 'too little', when },
    ] as const;
    const shell = waiting({ policy });
    update(shell, { decision: 'modify', args: LESS }, 't1');
    settle(shell);
    expect(verdictOf(shell, 't1')).toMatchObject({ accepted: false, message: 'too little' });
    expect(ofType(shell, 'permission')).toHaveLength(1);
    expect(askOf(shell).askId).toBe('run_1:0');
  });

  test('that changes nothing is refused: it would be an approval in disguise', () => {
    const shell = waiting();
    modify(shell, ARGS);
    expect(warningsOf(shell)).toEqual(['correction_refused']);
    expect(executedOf(shell)).toEqual([]);
  });

  test('can be corrected once more, and is bound anew each time', () => {
    const shell = waiting({ tools: refundOf({ quorum: 2 }) });
    modify(shell, LESS, { by: 'ann' });
    modify(shell, { ...LESS, amount: 30 }, { by: 'bob' });
    answer(shell, { by: 'ann' });
    finish(shell);
    expect(executedOf(shell)).toEqual(['a issue_refund case:0:r2 1']);
    expect(argsExecuted(shell)).toEqual([{ ...LESS, amount: 30 }]);
  });

  test('a corrected call that is then rejected never runs', () => {
    const shell = waiting({ tools: refundOf({ quorum: 2 }) });
    modify(shell, LESS, { by: 'ann' });
    answer(shell, { by: 'bob', decision: 'reject' });
    const { counters } = finish(shell);
    expect(counters).toMatchObject({ toolCalls: 0, deniedCalls: 1 });
    expect(codesOf(shell)).toEqual({ a: 'approval_rejected' });
    expect(shell.transcript.messages.find(({ role }) => role === 'R')?.notes[0]).toContain(
      'wanted',
    );
  });
});

describe('whose word a corrected call runs on', () => {
  test('under a quorum the others vote again, the corrector has voted', () => {
    const shell = waiting({ tools: refundOf({ quorum: 2 }) });
    answer(shell, { by: 'ann' });
    modify(shell, LESS, { by: 'bob' });
    expect(executedOf(shell)).toEqual([]);
    expect(askOf(shell)).toMatchObject({ askId: 'run_1:0:r1', quorum: 2, args: LESS });
    answer(shell, { by: 'bob' });
    expect(warningsOf(shell)).toEqual(['approval_duplicate']);
    answer(shell, { by: 'ann' });
    finish(shell);
    expect(ofType(shell, 'approval_resolved').at(-1)).toMatchObject({ by: ['bob', 'ann'] });
    expect(argsExecuted(shell)).toEqual([LESS]);
  });

  test('the word of somebody who may not approve the new action does not count', () => {
    const tools = [
      ...refundOf({ roles: ['clerk'] }),
      tool('x_pay', {
        effect: 'financial',
        idempotency: 'keyed',
        approval: { roles: ['chief'], quorum: 1 },
      }),
    ];
    const shell = waiting({ tools });
    const clerk = { by: 'cleo', roles: ['clerk'] };
    answer(shell, { decision: 'replace', tool: 'x_pay', args: { amount: 1 }, ...clerk });
    settle(shell);
    expect(executedOf(shell)).toEqual([]);
    answer(shell, { by: 'zoe', roles: ['chief'] });
    finish(shell);
    expect(executedOf(shell)).toEqual(['a x_pay case:0:r1 1']);
    expect(ofType(shell, 'approval_resolved').at(-1)).toMatchObject({ by: ['zoe'] });
  });

  test('who may not decide may not correct either', () => {
    const shell = waiting({ tools: refundOf({ roles: ['clerk'] }), task: { caller: 'carol' } });
    modify(shell, LESS, { by: 'dave' });
    modify(shell, LESS, { by: 'carol', roles: ['clerk'] });
    expect(warningsOf(shell)).toEqual(['decision_ignored', 'decision_ignored']);
    expect(started(shell, 'check_call')).toEqual([]);
  });

  test('a policy that allows the corrected call asks nobody any more', () => {
    const when = { path: 'amount', lte: 45 };
    const shell = waiting({ policy: [{ tool: 'issue_refund', decision: 'allow', when }] });
    modify(shell);
    finish(shell);
    expect(ofType(shell, 'approval_requested')).toHaveLength(1);
    expect(started(shell, 'execute_tool')[0]!.input.grant).toMatchObject({
      basis: 'policy',
      approvedBy: ['policy:7'],
    });
  });
});

describe('a call is replaced by another one', () => {
  test('whose tool, key and result are those of the new one', () => {
    const shell = waiting({ outcomes: { write_note: [{ ok: 'noted' }] } });
    answer(shell, { decision: 'replace', tool: 'write_note', args: { text: 'hi' } });
    const result = finish(shell);
    expect(executedOf(shell)).toEqual(['a write_note case:0:r1 1']);
    expect(ofType(shell, 'approval_resolved')).toMatchObject([
      { outcome: 'replaced', corrected: { tool: 'write_note', args: { text: 'hi' } } },
    ]);
    expect(result.counters).toMatchObject({ toolCalls: 1, proposedCalls: 1 });
    expect(shell.transcript.messages.find(({ role }) => role === 'R')?.notes[0]).toBe(
      'User replaced this call: executed write_note {"text":"hi"}',
    );
  });

  test.each([
    ['unknown', 'nope', {}],
    ['forbidden', 'delete_order', { task: { forbiddenActions: ['delete_order'] } }],
    ['disallowed', 'delete_order', { settings: { disallowedTools: ['delete_*'] } }],
    ['no action', 'ask_customer', {}],
  ] as const)('but not by a tool that is %s', (_what, name, more) => {
    const shell = waiting(more);
    answer(shell, { decision: 'replace', tool: name, args: {} });
    expect(warningsOf(shell)).toEqual(['decision_ignored']);
    expect(askOf(shell).askId).toBe('run_1:0');
    expect(started(shell, 'check_call')).toEqual([]);
  });
});

describe('while a correction is looked at', () => {
  function correcting(more: Partial<Script> = {}): Shell {
    const shell = waiting(more);
    update(shell, { decision: 'modify', args: LESS, by: 'ann' }, 'ann');
    return shell;
  }

  test('its sender waits for the verdict, and gets it', () => {
    const shell = correcting();
    expect(verdictOf(shell, 'ann')).toBeUndefined();
    settle(shell);
    expect(verdictOf(shell, 'ann')).toEqual({ accepted: true, outcome: 'modified' });
  });

  test('approvals of the original decide nothing; they count when the correction is refused', () => {
    const check = () => ({ ok: false, code: 'invalid_arguments', message: 'no' }) as const;
    const refused = correcting({ check });
    update(refused, { by: 'bob' }, 'bob');
    expect(verdictOf(refused, 'bob')).toBeUndefined();
    expect(executedOf(refused)).toEqual([]);
    settle(refused);
    expect(verdictOf(refused, 'bob')).toEqual({ accepted: true, outcome: 'approved' });
    finish(refused);
    expect(argsExecuted(refused)).toEqual([ARGS]);

    const taken = correcting({ tools: refundOf({ quorum: 2 }) });
    answer(taken, { by: 'bob' });
    answer(taken, { by: 'cid' });
    settle(taken);
    expect(askOf(taken)).toMatchObject({ askId: 'run_1:0:r1' });
    expect(executedOf(taken)).toEqual([]);
  });

  test('a second correction is told to come again', () => {
    const shell = correcting();
    update(shell, { decision: 'modify', args: { ...LESS, amount: 1 }, by: 'bob' }, 'bob');
    expect(verdictOf(shell, 'bob')).toMatchObject({ accepted: false, reason: 'busy' });
  });

  test('the same correction again, by its nonce, counts once', () => {
    const shell = waiting();
    const again = { decision: 'modify', args: LESS, nonce: 'n1' } as const;
    answer(shell, again);
    answer(shell, again);
    settle(shell);
    finish(shell);
    expect(warningsOf(shell)).toEqual([]);
    expect(argsExecuted(shell)).toEqual([LESS]);
  });

  test('an interrupt ends it: nothing runs, and nobody is left waiting', () => {
    const shell = correcting();
    send(shell, { type: 'interrupt' });
    expect(finish(shell).stopReason).toBe('interrupted');
    expect(verdictOf(shell, 'ann')).toMatchObject({ accepted: false });
    expect(codesOf(shell)).toEqual({ a: 'interrupted' });
  });

  test('the question does not expire: the correction came in time', () => {
    const shell = waiting({ settings: { approvalTimeoutMs: 3_600_000 } });
    const decision = decisionOn(askOf(shell), {
      decision: 'modify',
      args: LESS,
      decidedAt: shell.now,
    });
    post(shell, { type: 'decision', decision });
    activate(shell);
    const timer = shell.awaited.find((one) => one.id.startsWith('timer-'))!;
    shell.inbox.push(timer.make(shell.now));
    activate(shell);
    finish(shell);
    expect(argsExecuted(shell)).toEqual([LESS]);
  });

  test('the run can continue as new; the sender then learns that it is not decided yet', () => {
    const shell = waiting();
    const decision = decisionOn(askOf(shell), { decision: 'modify', args: LESS });
    post(shell, { type: 'decision', decision, ticket: 'ann' });
    crossSegment(shell);
    expect(verdictOf(shell, 'ann')).toEqual({ accepted: true, outcome: 'pending' });
    finish(shell);
    expect(argsExecuted(shell)).toEqual([LESS]);
  });
});

test('a key that the corrected call finds taken is revised and asked about again', () => {
  const shell = waiting({ outcomes: { issue_refund: [{ keyConflict: true }, { ok: 1 }] } });
  modify(shell);
  settle(shell);
  expect(askOf(shell)).toMatchObject({ askId: 'run_1:0:r2', args: LESS });
  answer(shell);
  expect(finish(shell).counters.toolCalls).toBe(1);
  expect(executedOf(shell).at(-1)).toBe('a issue_refund case:0:r2 1');
});

test('corrections do not use up the keys that a conflict may try', () => {
  const shell = waiting({
    tools: refundOf({ quorum: 2 }),
    outcomes: { issue_refund: [{ keyConflict: true }, { ok: 1 }] },
  });
  for (const amount of [1, 2, 3, 4, 5]) modify(shell, { ...ARGS, amount }, { by: `p${amount}` });
  answer(shell, { by: 'ann' });
  settle(shell);
  expect(askOf(shell)).toMatchObject({ askId: 'run_1:0:r6' });
});

test('questions of several calls are corrected each by its own', () => {
  const other = { order: 'O-7', amount: 9 };
  const model = [
    calls(call('a', 'issue_refund', ARGS), call('b', 'issue_refund', other)),
    says('x'),
  ];
  const shell = waiting({ model });
  modify(shell);
  settle(shell);
  answer(shell);
  finish(shell);
  expect(argsExecuted(shell)).toEqual([LESS, other]);
});

test('a correction of a call whose place was taken meanwhile ends with its question', () => {
  const one = call('a', 'issue_refund', ARGS);
  const flow = { outputPath: 'done', refs: [] };
  const model = [calls({ ...one, flow }, { ...call('b', 'read_order'), flow }), says('x')];
  const settings = { toolExecution: 'dataflow' } as const;
  const outcomes = { read_order: [{ ok: 1, delayMs: 1 }] };
  const shell = createShell({ model, settings, outcomes });
  until(shell, 'approval_requested');
  update(shell, { decision: 'modify', args: LESS }, 'ann');
  settle(shell);
  finish(shell);
  expect(codesOf(shell)).toEqual({ a: 'skipped_alternative', b: 'ok' });
  expect(verdictOf(shell, 'ann')).toMatchObject({ accepted: false });
  expect(ofType(shell, 'approval_withdrawn')).toHaveLength(1);
});

test('a hook that wants a person wants one for the corrected call, too', () => {
  const guard = { guard: [{ decision: 'ask', message: 'unusual' }] } as const;
  const shell = waiting({
    model: [calls(call('a', 'write_note', { text: 'x' })), says('done')],
    hookNames: { PreToolUse: ['guard'] },
    hooks: guard,
    tools: TOOLBOX,
  });
  expect(askOf(shell).askId).toBe('run_1:0');
  modify(shell, { text: 'y' });
  finish(shell);
  expect(ofType(shell, 'permission').map(({ rule }) => rule)).toEqual(['hook:guard', 'hook:guard']);
  expect(started(shell, 'run_hooks')).toHaveLength(1);
  expect(argsExecuted(shell)).toEqual([{ text: 'y' }]);
});
