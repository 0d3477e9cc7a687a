/** The questions of the list as somebody wants to see them: theirs to decide, in their order. Pure. */
import { compareDecimals, decimalOf, type Decimal } from '../../../pure/decimal.js';
import { headlineOf } from '../../../pure/headline.js';
import type { ListedAsk, Person } from '../data/api-types.js';
import { objectionTo } from '../decide/objection.js';
import type { InboxFilters } from './known-asks.js';

export function arranged(
  asks: readonly ListedAsk[],
  { isMine, order }: Pick<InboxFilters, 'isMine' | 'order'>,
  me: Person,
): readonly ListedAsk[] {
  const shown = isMine ? asks.filter((ask) => isTheirs(ask, me)) : asks;
  if (order === 'expiry') return [...shown].sort((one, other) => one.expiresAt - other.expiresAt);
  if (order !== 'amount') return shown;
  return shown
    .map((ask) => [ask, amountOf(ask)] as const)
    .sort(([, one], [, other]) => largestFirst(one, other))
    .map(([ask]) => ask);
}

function isTheirs(ask: ListedAsk, me: Person): boolean {
  return ask.decidedByMe !== true && objectionTo(ask, me) === undefined;
}

/** Of the headline, whatever its currency is: nothing here knows rates. */
function amountOf(ask: ListedAsk): Decimal | undefined {
  const text = /^-?[\d,]+(\.\d+)?/.exec(headlineOf(ask).amount?.value ?? '')?.[0];
  return decimalOf(text?.replaceAll(',', ''));
}

/** What has no amount comes last. */
function largestFirst(one: Decimal | undefined, other: Decimal | undefined): number {
  if (one === undefined || other === undefined) {
    return Number(one === undefined) - Number(other === undefined);
  }
  return compareDecimals(other, one);
}
