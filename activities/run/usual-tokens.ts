/** Token limits of a budget that says none. */
import { DEFAULT_BUDGET, type Budget, type Limit } from '../../core/state/budget-fields.js';
import type { ModelRoute } from '../../core/state/model.js';
import type { BudgetOverrides } from '../../core/state/task.js';

/**
 * Tokens that nobody has limited grow with the money that was named: whoever allows more of it, as a long goal does, is
 * not stopped by the tokens of less. Of a model that costs nothing tokens are the only limit, and stay what they are.
 */
export function usualTokens(
  { maxCostMicroUsd: money }: BudgetOverrides,
  routes: readonly Pick<ModelRoute, 'prices'>[],
): Pick<Budget, 'maxInputTokens' | 'maxOutputTokens'> {
  const { maxInputTokens, maxOutputTokens, maxCostMicroUsd: usual } = DEFAULT_BUDGET;
  const isMore = typeof money === 'number' && typeof usual === 'number' && money > usual;
  const grows = isMore && routes.every(isPaid);
  const grown = (limit: Limit): Limit =>
    grows && limit !== 'unlimited' ? Math.ceil((limit / usual) * money) : limit;
  return { maxInputTokens: grown(maxInputTokens), maxOutputTokens: grown(maxOutputTokens) };
}

function isPaid({ prices }: Pick<ModelRoute, 'prices'>): boolean {
  return prices.input > 0 || prices.output > 0;
}
