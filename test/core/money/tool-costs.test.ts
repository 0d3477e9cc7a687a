/** What tools say that their calls cost, in the budget of money. */
import { CHANGES } from '../../../core/step/changes.js';
import { call, calls, failure, says, tool, usage, withReply, type Script } from '../script.js';
import {
  answer,
  askOf,
  codesOf,
  createShell,
  executedOf,
  finish,
  ofType,
  pass,
  requestsOf,
  settle,
  started,
  until,
  warningsOf,
  type Shell,
} from '../shell.js';

const PAID = tool('x_paid', { maxCostMicroUsd: 1_000_000 });
const EFFECT = tool('x_effect', {
  effect: 'send',
  idempotency: 'none',
  maxCostMicroUsd: 1_000_000,
});
const FREE = withReply(calls(call('a', 'x_paid')), usage(0, 0));
const DONE = says('done', usage(0, 0));

function played(script: Partial<Script> = {}): Shell {
  const shell = createShell({ tools: [PAID, EFFECT], model: [FREE, DONE], ...script });
  settle(shell);
  return shell;
}

const boundsOf = (shell: Shell) => started(shell, 'execute_tool').map(({ input }) => input.cost);

test('the most that a call may cost is reserved before it starts, and what it costs is spent', () => {
  const shell = createShell({
    tools: [PAID],
    model: [FREE, DONE],
    outcomes: { x_paid: [{ ok: 1, costMicroUsd: 42 }] },
  });
  until(shell, 'tool_started');
  expect(Object.values(shell.run.money.reserved)).toEqual([2_000_000]);
  expect(boundsOf(shell)).toEqual([{ each: 1_000_000, most: 2_000_000 }]);
  expect(finish(shell).costMicroUsd).toBe(42);
  expect(shell.run.money.reserved).toEqual({});
  expect(ofType(shell, 'tool_finished')).toMatchObject([{ costMicroUsd: 42 }]);
});

test('an effect that has one attempt reserves it once', () => {
  const model = [withReply(calls(call('a', 'x_effect')), usage(0, 0)), DONE];
  expect(boundsOf(played({ model }))).toEqual([{ each: 1_000_000, most: 1_000_000 }]);
});

test('a call that the money does not allow does not start: the run stops, or asks', () => {
  const budget = { maxCostMicroUsd: 990_000 };
  const shell = played({ budget });
  expect(executedOf(shell)).toEqual([]);
  expect(finish(shell)).toMatchObject({ stopReason: 'max_cost', costMicroUsd: 0 });
  expect(codesOf(shell)).toEqual({ a: 'budget_exceeded' });
  const asking = played({ budget, settings: { onBudget: 'ask' } });
  expect(askOf(asking)).toMatchObject({ kind: 'budget', args: { budget: 'maxCostMicroUsd' } });
  answer(asking, { decision: 'approve', amount: 1_000_000 });
  settle(asking);
  expect(finish(asking).stopReason).toBe('completed');
});

test('where two attempts do not fit, one is reserved', () => {
  const shell = played({ budget: { maxCostMicroUsd: 1_300_000 } });
  expect(boundsOf(shell)).toEqual([{ each: 1_000_000, most: 1_300_000 }]);
});

test('calls side by side wait for the money that others may give back', () => {
  const tools = [{ ...PAID, concurrencySafe: true }];
  const model = [withReply(calls(call('a', 'x_paid'), call('b', 'x_paid')), usage(0, 0)), DONE];
  const shell = played({
    tools,
    model,
    settings: { toolExecution: 'batched' },
    budget: { maxCostMicroUsd: 1_500_000 },
    outcomes: { x_paid: [{ ok: 1, costMicroUsd: 100_000 }] },
  });
  expect(executedOf(shell)).toHaveLength(2);
  expect(boundsOf(shell)).toEqual([
    { each: 1_000_000, most: 1_500_000 },
    { each: 1_000_000, most: 1_400_000 },
  ]);
  expect(finish(shell)).toMatchObject({ stopReason: 'completed', costMicroUsd: 200_000 });
});

test('a call of whose end nobody heard is charged with what was reserved for it', () => {
  const model = [withReply(calls(call('a', 'x_effect')), usage(0, 0)), DONE];
  const lost = played({
    model,
    tools: [{ ...EFFECT, approval: 'never' }],
    outcomes: { x_effect: [{ ...failure('Internal', { timedOut: true }) }, { ok: 1 }] },
    findings: [{ kind: 'not_happened' }],
  });
  expect(finish(lost).costMicroUsd).toBe(1_000_000);
  expect(executedOf(lost)).toHaveLength(2);
  expect(ofType(lost, 'tool_finished')).toMatchObject([{ costMicroUsd: 1_000_000 }]);
});

test('a call that was refused before it began costs nothing', () => {
  const refused = played({ outcomes: { x_paid: [failure('GrantInvalid')] } });
  expect(finish(refused).costMicroUsd).toBe(0);
  expect(ofType(refused, 'tool_finished')[0]).not.toHaveProperty('costMicroUsd');
});

test('what a tool bills above its bound is told, and where it breaks the limit nothing starts after it', () => {
  const outcomes = { x_paid: [{ ok: 1, costMicroUsd: 9_000_000 }] };
  const shell = played({ outcomes, budget: { maxCostMicroUsd: 20_000_000 } });
  expect(ofType(shell, 'warning').map(({ message }) => message)).toEqual([
    'the tool call was billed with 9000000 micro-USD, its bound was 2000000',
  ]);
  const broken = played({ outcomes, budget: { maxCostMicroUsd: 5_000_000 } });
  expect(requestsOf(broken)).toHaveLength(1);
  expect(finish(broken)).toMatchObject({ stopReason: 'max_cost', costMicroUsd: 9_000_000 });
});

test('a cost that nobody can reckon with counts as the bound, and no sum of costs is more than a number holds', () => {
  for (const costMicroUsd of [-5, 1.5, 2 ** 53]) {
    const shell = played({ outcomes: { x_paid: [{ ok: 1, costMicroUsd }] } });
    expect(finish(shell).costMicroUsd).toBe(2_000_000);
  }
  const most = { ok: 1, costMicroUsd: Number.MAX_SAFE_INTEGER } as const;
  const shell = played({
    model: [FREE, FREE, DONE],
    outcomes: { x_paid: [most, most] },
    budget: { maxCostMicroUsd: 'unlimited' },
  });
  expect(finish(shell).costMicroUsd).toBe(Number.MAX_SAFE_INTEGER);
});

test('a tool without a declared cost is paid by what is left', () => {
  const shell = played({
    tools: [tool('x_paid')],
    outcomes: { x_paid: [{ ok: 1, costMicroUsd: 9_000_000 }] },
    budget: { maxCostMicroUsd: 800_000 },
  });
  expect(boundsOf(shell)).toEqual([undefined]);
  expect(finish(shell)).toMatchObject({ stopReason: 'max_cost', costMicroUsd: 9_000_000 });
  expect(warningsOf(shell)).toEqual([]);
});

test('under rules before 10 nothing of it counts', () => {
  const { since } = CHANGES.toolCosts;
  const outcomes = { x_paid: [{ ok: 1, costMicroUsd: 9_000_000 }] };
  const shell = played({ outcomes, rules: since - 1, budget: { maxCostMicroUsd: 50_000 } });
  pass(shell, 1);
  expect(boundsOf(shell)).toEqual([undefined]);
  expect(finish(shell)).toMatchObject({ stopReason: 'completed', costMicroUsd: 0 });
});
