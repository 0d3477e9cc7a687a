/**
 * The money of a question, in dollars: its arguments have micro-USD, and so have the words of questions about a budget
 * of runs that follow rules before 25. Later words name dollars, and nothing is said twice.
 */
import type { AskView } from '../../core/state/ask-view.js';
import { dollars } from '../../core/money/dollars.js';
import { usdText } from './amounts.js';

const MONEY = 'maxCostMicroUsd';

/**
 * Lines of a card: the slice of a goal's cycle, or more of a budget of money that the question does not name; of other
 * questions none. Arguments of a tool are the model's own words, and no money.
 */
export function moneyTexts(
  { kind, args, question = '' }: AskView,
  isOfGoal: boolean,
): readonly string[] {
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
  const figures = spent === '' ? [amount] : [amount, used as number, limit as number];
  if (figures.every((figure) => isNamed(figure, question))) return [];
  return [`${usdText(amount)} more${spent}`];
}

/** The amount itself, and no longer one that begins or ends like it. */
function isNamed(microUsd: number, question: string): boolean {
  const words = question.split(/[\s:;,?]+/).map((word) => word.replace(/\.$/, ''));
  return words.includes(dollars(microUsd));
}
