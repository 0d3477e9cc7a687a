/** What the business controls knew when a call was checked, on the one question that is asked about it. */
import type { Outlook } from '../../../core/controls/outlook.js';
import type { ProposedCall } from '../../../core/state/model.js';
import { call, calls, says, tool, type Script } from '../script.js';
import {
  answer,
  askOf,
  codesOf,
  createShell,
  executedOf,
  finish,
  ofType,
  settle,
  started,
  START,
  warningsOf,
  type Shell,
} from '../shell.js';

const ARGS = { order: 'O-104', amount: 50 };
const ASK = 'run_1:0';
const DAY_MS = 86_400_000;

function doneBefore(...keys: readonly string[]): Outlook {
  const earlier = keys.map((key, index) => ({
    key,
    runId: 'run_0',
    tool: 'issue_refund',
    at: 1_000 - index,
    state: 'done' as const,
    approvedBy: ['lea'],
  }));
  return { repeats: { identity: ['O-104'], earlier } };
}

function played(outlook: Outlook, more: Partial<Script> = {}): Shell {
  const approval = { roles: ['lead'], quorum: 1 };
  const tools = [tool('issue_refund', { effect: 'financial', idempotency: 'keyed', approval })];
  const proposed: ProposedCall = {
    ...call('a', 'issue_refund', ARGS),
    check: { ok: true, outlook },
  };
  const model = [calls(proposed), says('done')];
  return settle(
    createShell({ tools, model, outcomes: { issue_refund: [{ ok: 'paid' }] }, ...more }),
  );
}

const grantsOf = (shell: Shell) => started(shell, 'execute_tool').map(({ input }) => input.grant);

test('a call that needs an approval and was done before is asked about once, and the card shows both', () => {
  const shell = played(doneBefore('k1'));
  expect(askOf(shell)).toMatchObject({
    askId: ASK,
    args: ARGS,
    roles: ['lead'],
    question: expect.stringMatching(/^issue_refund was already done for O-104: once/),
    repeats: { earlier: [{ key: 'k1' }] },
  });
  answer(shell, { by: 'lea', roles: ['lead'] });
  finish(shell);
  expect(grantsOf(shell)).toMatchObject([{ reference: ASK, repeats: ['k1'] }]);
  expect(ofType(shell, 'approval_requested')).toHaveLength(1);
  expect(codesOf(shell)).toEqual({ a: 'ok' });
});

test('what was done after the card was made is asked about in a second question', () => {
  const outcomes = { issue_refund: [{ repeats: ['k2', 'k1'] }, { ok: 'paid' }] };
  const shell = played(doneBefore('k1'), { outcomes });
  answer(shell, { by: 'lea', roles: ['lead'] });
  settle(shell);
  expect(askOf(shell)).toMatchObject({ askId: `${ASK}:repeat`, repeats: { earlier: [{}, {}] } });
  answer(shell, { by: 'lea', roles: ['lead'] });
  finish(shell);
  expect(grantsOf(shell)).toMatchObject([{ repeats: ['k1'] }, { repeats: ['k2', 'k1'] }]);
});

test('a decision that was made before the card could be seen does not count', () => {
  const shell = played(doneBefore('k1'));
  const { openedAt } = askOf(shell);
  answer(shell, { by: 'lea', roles: ['lead'], decidedAt: openedAt - 1 });
  settle(shell);
  expect(warningsOf(shell)).toEqual(['decision_ignored']);
  expect(executedOf(shell)).toEqual([]);
});

test('no standing grant comes of it', () => {
  const shell = played(doneBefore('k1'), { settings: { allowStandingGrants: true } });
  const when = [{ path: 'amount', lte: 50 }];
  const grant = { matcher: { tool: 'issue_refund', when }, uses: 5, expiresInMs: 3_600_000 };
  answer(shell, { by: 'lea', roles: ['lead'], grant });
  expect(warningsOf(shell)).toEqual(['decision_ignored']);
});

test.each([
  ['was not on the card, asks the corrector as well', ['k1', 'k9'], undefined],
  ['was on the card, needs no other word', ['k1'], ['k1']],
])('a correction whose own past %s', (_what, keys, seen) => {
  const check = () => ({ ok: true, outlook: doneBefore(...keys) }) as const;
  const shell = played(doneBefore('k1'), { check });
  const args = { order: 'O-104', amount: 40 };
  answer(shell, { by: 'lea', roles: ['lead'], decision: 'modify', args });
  settle(shell);
  if (seen === undefined) {
    expect(askOf(shell)).toMatchObject({
      askId: `${ASK}:r1`,
      args,
      repeats: { earlier: [{}, {}] },
    });
    expect(executedOf(shell)).toEqual([]);
    answer(shell, { by: 'lea', roles: ['lead'] });
  }
  finish(shell);
  expect(grantsOf(shell)).toMatchObject([{ repeats: keys }]);
  expect(codesOf(shell)).toEqual({ a: 'ok' });
});

test('what was said of the arguments before a correction is not said of the corrected ones', () => {
  const shell = played(doneBefore('k1'));
  answer(shell, {
    by: 'lea',
    roles: ['lead'],
    decision: 'modify',
    args: { order: 'O-7', amount: 50 },
  });
  finish(shell);
  expect(grantsOf(shell)[0]).not.toHaveProperty('repeats');
});

const used = { amount: 900, count: 3 };
const FITTING = {
  amount: 50,
  customer: 'cora',
  limits: [{ scope: 'perDay', amount: 950, used }],
} as const;
const TOO_LARGE = {
  ...FITTING,
  limits: [{ scope: 'perDay', amount: 940, used }],
  exceeded: true,
} as const;
const USED_UP = { ...TOO_LARGE, limits: [{ scope: 'perDay', amount: 900, used }] } as const;
const BEYOND: Outlook = { limits: USED_UP, at: START };

test('the card says what is used up of the limits', () => {
  const shell = played({ limits: FITTING });
  expect(askOf(shell)).toMatchObject({ limits: FITTING });
  expect(askOf(shell)).not.toHaveProperty('question');
});

test('nobody is asked about a call of whose limits nothing is left: the model is told, and nothing is claimed', () => {
  const shell = played(BEYOND);
  finish(shell);
  expect(ofType(shell, 'approval_requested')).toEqual([]);
  expect(executedOf(shell)).toEqual([]);
  expect(codesOf(shell)).toEqual({ a: 'limit_exceeded' });
  expect(ofType(shell, 'permission')).toMatchObject([
    {
      decision: 'deny',
      rule: 'limits',
      reason: expect.stringMatching(/limited to an amount of 900 for one day.*nobody was asked/),
    },
  ]);
});

test('a number of calls that is reached asks nobody either', () => {
  const limits = { ...TOO_LARGE, limits: [{ scope: 'inAll', count: 3, used }] } as const;
  const shell = played({ limits, at: START });
  finish(shell);
  expect(codesOf(shell)).toEqual({ a: 'limit_exceeded' });
});

test('a call that is refused by its limits does not end a run that refuses what is not allowed', () => {
  const shell = played(BEYOND, { settings: { onInvalid: 'refuse', onDeny: 'refuse' } });
  expect(finish(shell)).toMatchObject({ stopReason: 'completed' });
});

test('a call that a person could lower is asked about, and the lower one is done', () => {
  const check = () => ({ ok: true, outlook: { limits: FITTING, at: START } }) as const;
  const shell = played({ limits: TOO_LARGE, at: START }, { check });
  expect(askOf(shell)).toMatchObject({ limits: TOO_LARGE });
  const args = { order: 'O-104', amount: 40 };
  answer(shell, { by: 'lea', roles: ['lead'], decision: 'modify', args });
  finish(shell);
  expect(codesOf(shell)).toEqual({ a: 'ok' });
});

test.each([
  ['long ago', START - 120_000],
  ['on another day', START - DAY_MS],
  ['at a time that nobody knows', undefined],
])('limits that were looked at %s refuse nothing: a person is asked', (_when, at) => {
  const shell = played({ limits: USED_UP, ...(at !== undefined && { at }) });
  expect(askOf(shell)).toMatchObject({ limits: USED_UP });
});

test('a correction of whose limits nothing is left is refused, and its question is closed', () => {
  const check = () => ({ ok: true, outlook: BEYOND }) as const;
  const shell = played({ limits: TOO_LARGE, at: START }, { check });
  const args = { order: 'O-104', amount: 40 };
  answer(shell, { by: 'lea', roles: ['lead'], decision: 'modify', args });
  finish(shell);
  expect(codesOf(shell)).toEqual({ a: 'limit_exceeded' });
  expect(ofType(shell, 'approval_resolved')).toMatchObject([{ outcome: 'modified' }]);
});

test('a model that goes on with what its limits refuse needs a person, as after refusals of the claim', () => {
  const insisting = Array.from({ length: 6 }, (_, index) =>
    calls({
      ...call(`c${index}`, 'issue_refund', { order: `O-${index}`, amount: 50 }),
      check: { ok: true as const, outlook: { limits: USED_UP, at: START + index * 1_000 } },
    }),
  );
  const shell = played(BEYOND, { model: insisting });
  expect(finish(shell)).toMatchObject({
    stopReason: 'needs_human',
    detail: 'repeated_tool_failure',
  });
});

test('the first refusal stops a run that stops at the first failure of a tool', () => {
  const onToolFailure = { mode: 'stop', threshold: 1, outcome: 'needs_human' } as const;
  const shell = played(BEYOND, { settings: { onToolFailure } });
  expect(finish(shell)).toMatchObject({ detail: 'repeated_tool_failure' });
});

test('a call that needs no word goes on to its claim, which decides by what is used up then', () => {
  const free = [tool('issue_refund', { effect: 'financial', idempotency: 'keyed' })];
  const shell = played(BEYOND, { tools: free });
  finish(shell);
  expect(executedOf(shell)).toHaveLength(1);
});

test('runs of rules before 19 ask, and the card says that it would be refused', () => {
  const shell = played({ limits: TOO_LARGE }, { rules: 18 });
  expect(askOf(shell)).toMatchObject({ limits: TOO_LARGE });
});

test('runs of rules before 19 ask although nothing is left', () => {
  const shell = played(BEYOND, { rules: 18 });
  expect(askOf(shell)).toMatchObject({ limits: USED_UP });
});
