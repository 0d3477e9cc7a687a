/** A message to a goal before it is sent. */
import { checkedGoalMessage } from '../../../client/goals/goal-message.js';

const said = (budget: object) =>
  checkedGoalMessage({ v: 1, id: 'm', by: 'mia', roles: [], at: 1, type: 'setBudget', budget });

test('money of a later budget is given in dollars, or in micro-USD', () => {
  const budget = { maxCostMicroUsd: 500_000, maxCycles: 3 };
  expect(said({ maxCostUsd: 0.5, maxCycles: 3 })).toMatchObject({ budget });
  expect(said(budget)).toMatchObject({ budget });
});

test.each([
  ['in both', { maxCostUsd: 1, maxCostMicroUsd: 1 }, /budget\.maxCostUsd .*give one of them/],
  [
    'micro-USD by another name',
    { maxCostUsd: 500_000 },
    /budget\.maxCostUsd .*look like micro-USD/,
  ],
  ['without an end', { maxCostUsd: 'unlimited' }, /budget\.maxCostMicroUsd must be a whole number/],
])('money of a later budget is refused %s', (_, budget, message) => {
  expect(() => said(budget)).toThrow(message);
});
