/** The money of a question, in dollars: its arguments and its words have micro-USD. */
import type { AskView } from '../../core/state/ask-view.js';
import { usdText } from './amounts.js';

const MONEY = 'maxCostMicroUsd';

/**
 * Lines of a card: the slice of a goal's cycle, or more of a budget of money; of other questions none. Arguments of a
 * tool are the model's own words, and no money.
 */
export function moneyTexts({ kind, args }: AskView, isOfGoal: boolean): readonly string[] {
  const { slice, field, budget, amount, used, limit } = (args ?? {}) as {
    readonly slice?: { readonly [MONEY]?: unknown };
    readonly [name: string]: unknown;
  };
  if (kind !== 'budget') {
    const most = slice?.[MONEY];
    return isOfGoal && typeof most === 'number' ? [`at most ${usdText(most)}`] : [];
  }
  if ((field ?? budget) !== MONEY || typeof amount !== 'number') return [];
  const spent =
    typeof used === 'number' && typeof limit === 'number'
      ? `; the run has spent ${usdText(used)} of ${usdText(limit)}`
      : '';
  return [`${usdText(amount)} more${spent}`];
}
