/** Limits of a recorded run in the words of its case. */
import { DEFAULT_BUDGET, type Budget } from '../../../core/state/budget-fields.js';
import { budgetOf } from '../../../evaluation/capture/configuration.js';
import type { Recording } from '../../../evaluation/capture/recording.js';

const written = (budget: Partial<Budget>) =>
  budgetOf({
    frozen: { budget: { ...DEFAULT_BUDGET, ...budget }, settings: { turnCounting: 'strict' } },
  } as unknown as Recording);

test('beside more money than usual the tokens are said: left out they would grow with it', () => {
  const { maxInputTokens, maxOutputTokens } = DEFAULT_BUDGET;
  const maxCostMicroUsd = 20_000_000;
  expect(written({ maxCostMicroUsd })).toEqual({
    maxCostMicroUsd,
    maxInputTokens,
    maxOutputTokens,
  });
  expect(written({ maxCostMicroUsd, maxInputTokens: 7 })).toMatchObject({ maxInputTokens: 7 });
});

test('beside less money, or none that is limited, usual tokens are not worth a word', () => {
  expect(written({ maxCostMicroUsd: 1_000 })).toEqual({ maxCostMicroUsd: 1_000 });
  expect(written({ maxCostMicroUsd: 'unlimited' })).toEqual({ maxCostMicroUsd: 'unlimited' });
});
