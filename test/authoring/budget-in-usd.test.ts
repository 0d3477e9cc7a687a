/** Money has one name in code, on the command line and in `query()`: maxCostUsd. */
import { defineAgent, defineConfig, defineGoal } from '../../authoring/index.js';
import { microUsdOf } from '../../authoring/budget-in-usd.js';
import { parseBudgetOptions } from '../../cli/desk/assignments.js';
import { startOf } from '../../client/query/check-query.js';
import { checkStart } from '../../client/runs/check-start.js';

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
  ['no amount', () => started({ maxCostUsd: -1 }), 'budget.maxCostUsd'],
])('%s that says two limits, or none, is refused by the field', (_, make, field) => {
  expect(make).toThrow(field);
});
