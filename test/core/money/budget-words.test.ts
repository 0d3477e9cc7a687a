import { budgetAmount } from '../../../core/money/budget-words.js';
import { dollars } from '../../../core/money/dollars.js';

test.each([
  [0, '$0.00'],
  [4, '$0.000004'],
  [1_250_000, '$1.25'],
  [1_000_000, '$1.00'],
  [12_345_678_900_001, '$12345678.900001'],
])('%d micro-USD are %s: no digit is lost', (microUsd, words) => {
  expect(dollars(microUsd)).toBe(words);
});

test.each([
  ['timeoutMs', 90_000, '90 s'],
  ['timeoutMs', 1_500, '1.5 s'],
  ['maxTurns', 12, '12'],
  ['maxCostMicroUsd', 500_000, '$0.50'],
] as const)('an amount of %s is told in its unit', (field, amount, words) => {
  expect(budgetAmount(field, amount)).toBe(words);
});
