/** Money has one name in code, on the command line and in `query()`: maxCostUsd. */
import { defineAgent, defineConfig, defineGoal, usd } from '../../authoring/index.js';
import { starts } from '../../authoring/console-starts.js';
import { microUsdOf } from '../../authoring/budget-in-usd.js';
import { startBudget } from '../../cli/commands/goal/goal-input.js';
import { parseBudgetOptions } from '../../cli/desk/assignments.js';
import { startOf } from '../../client/query/check-query.js';
import { checkStart } from '../../client/runs/check-start.js';
import { cost } from '../../console/mcp-server/input.js';

const model = 'anthropic/claude-haiku-4-5';
const agentWith = (budget: object) =>
  defineAgent({ name: 'a', model, instructions: 'Serve.', budget });
const goalWith = (budget: object, cycle: object = {}) =>
  defineGoal({
    name: 'g',
    objective: 'Done.',
    agent: 'a',
    done: { all: [{ plan: 'complete' }] },
    budget: budget as { maxCostUsd: number },
    cycle,
  }).definition;
const started = (budget: object) => checkStart({ agent: 'a', task: 'x', budget }).budget;
const queried = (options: object) =>
  started(startOf('x', { agent: 'a', ...options }, false).budget!);

const TEN_CENTS = { maxCostMicroUsd: 100_000 };

test.each<[string, () => unknown]>([
  ['an agent', () => agentWith({ maxCostUsd: 0.1 }).budget],
  [
    'the defaults of a configuration',
    () =>
      defineConfig({ agents: [agentWith({})], defaults: { budget: { maxCostUsd: 0.1 } } }).defaults
        .budget,
  ],
  ['a start', () => started({ maxCostUsd: 0.1 })],
  ['a start of the command', () => started(parseBudgetOptions(['maxCostUsd=0.1']))],
  ['a query', () => queried({ maxCostUsd: 0.1 })],
  ['a query by the name of other SDKs', () => queried({ maxBudgetUsd: 0.1 })],
  ['the budget of a query', () => queried({ budget: { maxCostUsd: 0.1 } })],
  [
    'a query, before its own budget',
    () => queried({ maxCostUsd: 0.1, budget: { maxCostMicroUsd: 7, maxCostUsd: 3 } }),
  ],
  ['micro-USD as before', () => started({ maxCostMicroUsd: 100_000 })],
])('maxCostUsd of %s is money in USD', (_, budget) => {
  expect(budget()).toEqual(TEN_CENTS);
});

test('a goal and its cycles take it as well, with the limit above it', () => {
  const { budget, cycle } = goalWith({ maxCostUsd: 2, hardMaxCostUsd: 5 }, { maxCostUsd: 0.2 });
  expect(budget).toMatchObject({ maxCostMicroUsd: 2_000_000, hardMaxCostMicroUsd: 5_000_000 });
  expect(cycle).toMatchObject({ maxCostMicroUsd: 200_000 });
});

test('money above that of any run is still said in micro-USD', () => {
  expect(started({ maxCostMicroUsd: 5e11 })).toEqual({ maxCostMicroUsd: 5e11 });
  expect(started({ maxCostUsd: 99_999 })).toEqual({ maxCostMicroUsd: 99_999_000_000 });
});

test('everywhere parts of a micro-USD are left out', () => {
  expect(parseBudgetOptions(['maxCostUsd=0.0000016'])).toEqual({ maxCostMicroUsd: 1 });
  expect(startBudget(['maxCostUsd=0.0000016'])).toEqual({ maxCostMicroUsd: 1 });
  expect([0.29, 0.0000016].map((dollars) => cost(dollars).maxCostMicroUsd)).toEqual([290_000, 1]);
  expect(starts.parse({ maxCostUsd: 0.0000016 })).toEqual({ maxCostUsd: 1 });
});

test('sub-agents of a start have their money in micro-USD as well', () => {
  const auditor = { description: 'd', prompt: 'p', budget: { maxCostUsd: 0.1 } as object };
  const { agents } = checkStart({ agent: 'a', task: 'x', agents: { auditor } });
  expect(agents!.auditor!.budget).toEqual(TEN_CENTS);
  const much = { ...auditor, budget: { maxCostUsd: usd(1) } as object };
  expect(() => checkStart({ agent: 'a', task: 'x', agents: { much } })).toThrow(
    'agents.much.budget.maxCostUsd cannot be used: it is in USD',
  );
});

test('no limit is said in words, and parts of a micro-USD are nobody’s to spend', () => {
  expect(started({ maxCostUsd: 'unlimited' })).toEqual({ maxCostMicroUsd: 'unlimited' });
  expect(started({ maxCostUsd: Infinity })).toEqual({ maxCostMicroUsd: 'unlimited' });
  expect([0.29, 0.0000019, 0].map(microUsdOf)).toEqual([290_000, 1, 0]);
  expect([-1, NaN, '1', 1e300].map(microUsdOf)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test.each<[string, () => unknown, string]>([
  ['an agent', () => agentWith({ maxCostUsd: 1, maxCostMicroUsd: 1 }), 'budget.maxCostUsd'],
  ['a start', () => started({ maxCostUsd: 1, maxCostMicroUsd: 1 }), 'budget.maxCostUsd'],
  ['a goal', () => goalWith({ maxCostUsd: 1, maxCostMicroUsd: 1 }), 'budget.maxCostUsd'],
  ['a cycle', () => goalWith({ maxCostUsd: 1 }, { maxCostUsd: 'much' }), 'cycle.maxCostUsd'],
  ['a query', () => queried({ maxCostUsd: 1, maxBudgetUsd: 2 }), 'options.maxBudgetUsd'],
  [
    'no amount',
    () => started({ maxCostUsd: -1 }),
    'budget.maxCostUsd cannot be used: it must be an amount in USD from 0.',
  ],
  [
    'a start in both units',
    () => started({ maxCostUsd: 1, maxCostMicroUsd: 1 }),
    'budget.maxCostUsd cannot be used: maxCostMicroUsd says the same limit',
  ],
  ['an agent in millionths', () => agentWith({ maxCostUsd: usd(0.5) }), 'without usd()'],
  ['a start in millionths', () => started({ maxCostUsd: 500_000 }), 'look like micro-USD'],
  ['a goal in millionths', () => goalWith({ maxCostUsd: usd(2) }), 'budget.maxCostUsd'],
  ['the command, in millionths', () => parseBudgetOptions(['maxCostUsd=500000']), 'micro-USD'],
  ['a goal of nothing', () => goalWith({ maxCostUsd: 0 }), 'budget.maxCostUsd cannot be used'],
  [
    'a goal without an end',
    () => goalWith({ maxCostUsd: 1, hardMaxCostUsd: 'unlimited' }),
    'budget.hardMaxCostUsd cannot be used: it must be an amount above 0',
  ],
  ['a goal of next to nothing', () => goalWith({ maxCostUsd: 1e-7 }), 'budget.maxCostUsd'],
])('%s that says two limits, or none, is refused by the field', (_, make, field) => {
  expect(make).toThrow(field);
});
