import type { Decision } from '../../../core/state/ask.js';
import type { Budget } from '../../../core/state/budget-fields.js';
import type { AskView } from '../../../core/state/ask-view.js';
import { viewOfRun } from '../../../core/loop/run-result.js';
import {
  call,
  calls,
  decisionOn,
  failure,
  says,
  usage,
  withReply,
  type Script,
} from '../script.js';
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
  requestsOf,
  send,
  settle,
  warningsOf,
  type Shell,
} from '../shell.js';
import { dollars } from '../../../core/money/dollars.js';

const HOUR = 3_600_000;

function run(budget: Partial<Budget>, more: Partial<Script> = {}): Shell {
  const turns = ['a', 'b', 'c', 'd'].map((id) => calls(call(id, 'read_order', { orderId: id })));
  const settings = { onBudget: 'ask', ...more.settings } as const;
  return settle(createShell({ model: [...turns, says('done')], ...more, budget, settings }));
}

function allow(shell: Shell, amount?: number): Shell {
  answer(shell, amount === undefined ? {} : { amount });
  return settle(shell);
}

describe('onBudget ask', () => {
  test('asks for a named amount of the budget that is used up, and waits', () => {
    const shell = run({ maxTurns: 2 });
    expect(shell.run.shownStatus).toBe('awaiting_budget');
    expect(askOf(shell)).toMatchObject({
      askId: 'run_1:budget:1',
      kind: 'budget',
      args: { budget: 'maxTurns', limit: 2, used: 2, amount: 2 },
    });
    expect(askOf(shell).question).toBe('The run needs more turns: 2 of 2 used. Allow 2 more?');
    expect(requestsOf(shell)).toHaveLength(2);
  });

  test('asks in words, with what is used, the limit and what is wanted in their places', () => {
    expect(askOf(run({ maxToolCalls: 0 })).question).toBe(
      'The run needs more tool calls: 0 of 0 used. Allow 1 more?',
    );
    const { question, args } = askOf(run({ maxCostMicroUsd: 1_250 }));
    const { used } = args as { used: number };
    expect(used).not.toBe(1_250);
    expect(question).toBe(
      `The run needs more money: ${dollars(used)} of $0.00125 used. Allow $0.00125 more?`,
    );
  });

  test('asks a recorded run in the words that it had', () => {
    expect(askOf(run({ maxTurns: 2 }, { rules: 24 })).question).toBe(
      'The run needs more of maxTurns: 2 of 2 are used. Allow 2 more?',
    );
  });

  test('what is allowed raises the limit for the rest of the run, and no more than that', () => {
    const shell = allow(run({ maxTurns: 2 }), 1);
    expect(requestsOf(shell)).toHaveLength(3);
    expect(askOf(shell)).toMatchObject({
      askId: 'run_1:budget:2',
      args: { limit: 3, used: 3, amount: 3 },
    });
    allow(shell);
    expect(finish(shell)).toMatchObject({ stopReason: 'completed', counters: { modelCalls: 5 } });
    expect(ofType(shell, 'input_provided')).toMatchObject([
      { askId: 'run_1:budget:1', outcome: 'approved', by: ['pat'], amount: 1 },
      { askId: 'run_1:budget:2', outcome: 'approved', amount: 3 },
    ]);
  });

  test('refused, the run stops on that budget', () => {
    const shell = run({ maxTurns: 2 });
    answer(shell, { decision: 'reject' });
    expect(finish(shell)).toMatchObject({ stopReason: 'max_turns', counters: { modelCalls: 2 } });
  });

  test('unanswered, it stops on that budget, and the waiting was no active time', () => {
    const shell = run({ maxTurns: 2, timeoutMs: 60_000 }, { settings: { inputTimeoutMs: HOUR } });
    const result = finish(shell);
    expect(result.stopReason).toBe('max_turns');
    expect(result.counters.waitingMs).toBe(HOUR);
  });

  test('interrupted, its question is withdrawn', () => {
    const shell = run({ maxTurns: 2 });
    send(shell, { type: 'interrupt' });
    expect(finish(shell)).toMatchObject({ stopReason: 'interrupted', phase: 'before_model' });
    expect(ofType(shell, 'approval_withdrawn')).toHaveLength(1);
  });

  test('nobody raises the budget of their own run', () => {
    const shell = run({ maxTurns: 2 }, { task: { caller: 'carol' } });
    answer(shell, { by: 'carol' });
    expect(warningsOf(shell)).toEqual(['decision_ignored']);
    expect(shell.run.shownStatus).toBe('awaiting_budget');
  });

  test('survives continue-as-new with what was raised', () => {
    const shell = allow(run({ maxTurns: 2 }), 1);
    crossSegment(shell);
    expect(askOf(shell)).toMatchObject({ args: { limit: 3 } });
    allow(shell, 10);
    expect(finish(shell).stopReason).toBe('completed');
  });

  test('an answer after it was decided is told so', () => {
    const shell = run({ maxTurns: 2 });
    const late = askOf(shell);
    answer(shell);
    const decision = { decision: 'approve', by: 'zoe', roles: [], decidedAt: shell.now } as const;
    send(shell, {
      type: 'decision',
      decision: { v: 1, askId: late.askId, argsHash: late.argsHash, ...decision },
      ticket: 't',
    });
    expect(shell.verdicts).toMatchObject([
      {
        verdict: {
          accepted: false,
          message: 'this ask was approved by pat',
        },
      },
    ]);
  });
});

describe('who may allow more', () => {
  test('only the roles that the settings name, and never whoever the run works for', () => {
    const settings = { onBudget: 'ask', budgetRoles: ['controller'] } as const;
    const shell = run({ maxTurns: 2 }, { settings, task: { caller: 'cora' } });
    expect(askOf(shell)).toMatchObject({ roles: ['controller'], requestedBy: 'cora' });
    answer(shell, { by: 'stan', roles: ['clerk'] });
    answer(shell, { by: 'cora', roles: ['controller'] });
    expect(shell.run.shownStatus).toBe('awaiting_budget');
    answer(shell, { by: 'cy', roles: ['controller'] });
    expect(shell.run.shownStatus).not.toBe('awaiting_budget');
  });
});

describe('each budget is asked for in its own unit, at each place where it is looked at', () => {
  const COSTLY = withReply(calls(call('a', 'write_note')), usage(100_000, 60_000));

  test('cost, between a reply and its tools: the call runs after the answer', () => {
    const shell = run({ maxCostMicroUsd: 1_200_000 }, { model: [COSTLY, says('done')] });
    expect(askOf(shell).args).toMatchObject({ budget: 'maxCostMicroUsd', used: 1_200_000 });
    expect(executedOf(shell)).toEqual([]);
    allow(shell, 3_000_000);
    expect(finish(shell).stopReason).toBe('completed');
    expect(executedOf(shell)).toHaveLength(1);
  });

  test('cost, refused there: the call never runs', () => {
    const shell = run({ maxCostMicroUsd: 1_200_000 }, { model: [COSTLY, says('done')] });
    answer(shell, { decision: 'reject' });
    expect(finish(shell).stopReason).toBe('max_cost');
    expect(codesOf(shell)).toEqual({ a: 'budget_exceeded' });
  });

  test('cost, before a request that does not fit', () => {
    const shell = run({ maxCostMicroUsd: 1 });
    expect(askOf(shell).args).toMatchObject({ budget: 'maxCostMicroUsd', used: 0, limit: 1 });
    expect(requestsOf(shell)).toEqual([]);
    allow(shell, 5_000_000);
    expect(finish(shell).stopReason).toBe('completed');
  });

  test('cost, after attempts that left no room for another', () => {
    const exhausted = failure('BudgetExhausted', { details: { budget: 'max_cost' } });
    const shell = run({}, { model: [exhausted, says('done')] });
    expect(askOf(shell).args).toMatchObject({ budget: 'maxCostMicroUsd' });
    allow(shell);
    expect(finish(shell).stopReason).toBe('completed');
  });

  test('tool calls, before a call of a reply', () => {
    const both = calls(call('a', 'read_order'), call('b', 'read_order', { orderId: '2' }));
    const shell = run({ maxToolCalls: 1 }, { model: [both, says('done')] });
    expect(askOf(shell).args).toMatchObject({ budget: 'maxToolCalls', used: 1 });
    allow(shell, 5);
    expect(finish(shell)).toMatchObject({ stopReason: 'completed', counters: { toolCalls: 2 } });
  });

  test('model calls apart from turns', () => {
    const shell = run({ maxModelCalls: 1 });
    expect(askOf(shell).args).toMatchObject({ budget: 'maxModelCalls', used: 1 });
  });

  test('active time, of which waiting for the answer takes none', () => {
    const slow = { ok: 1, delayMs: 600 };
    const shell = run({ timeoutMs: 1_000 }, { outcomes: { read_order: [slow] } });
    expect(askOf(shell).args).toMatchObject({ budget: 'timeoutMs', limit: 1_000 });
    pass(shell, HOUR);
    allow(shell, HOUR);
    expect(finish(shell).stopReason).toBe('completed');
  });

  test('tokens', () => {
    const model = [withReply(calls(call('a', 'read_order')), usage(100, 100)), says('x')];
    const shell = run({ maxOutputTokens: 100 }, { model });
    expect(askOf(shell).args).toMatchObject({ budget: 'maxOutputTokens', used: 100 });
    allow(shell, 10_000);
    expect(finish(shell).stopReason).toBe('completed');
  });
});

test('after a bill above its bound nothing starts before a person has allowed more', () => {
  const dear = withReply(calls(call('a', 'read_order')), usage(10, 100_000));
  const budget = { maxTokensPerResponse: 10, maxCostMicroUsd: 1_000_000 };
  const shell = run(budget, { model: [dear, says('x')] });
  expect(askOf(shell).args).toMatchObject({ budget: 'maxCostMicroUsd', used: 1_500_030 });
  expect(executedOf(shell)).toEqual([]);
  allow(shell);
  expect(finish(shell).stopReason).toBe('completed');
});

test('beside open approvals: what they allow runs only when there is more', () => {
  const both = calls(
    call('a', 'read_order'),
    call('b', 'issue_refund', { order: 'O', amount: 1 }),
    call('c', 'read_order', { orderId: '2' }),
  );
  const settings = { onBudget: 'ask', toolExecution: 'dataflow' } as const;
  const shell = run({ maxToolCalls: 1 }, { model: [both, says('x')], settings });
  const [approval, budget] = viewOfRun(shell.run).asks;
  expect([approval?.kind, budget?.kind]).toEqual(['approval', 'budget']);
  const decide = (ask: AskView, more: Partial<Decision> = {}) => {
    send(shell, { type: 'decision', decision: decisionOn(ask, more) });
    settle(shell);
  };
  decide(approval!);
  expect(executedOf(shell)).toHaveLength(1);
  decide(budget!, { amount: 5 });
  expect(finish(shell).stopReason).toBe('completed');
  expect(codesOf(shell)).toEqual({ a: 'ok', b: 'ok', c: 'ok' });
});
