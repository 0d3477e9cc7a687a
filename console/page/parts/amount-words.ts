/** Amounts of an action as its headline shows them, before and after somebody has changed them. Pure. */
import { decimalOf, isBeyondFactor } from '../../../pure/decimal.js';
import { amountText, at } from '../../../pure/headline.js';
import type { Ask, Json } from '../data/api-types.js';
import { changesBetween, type Change } from './changes.js';

type Card = Ask['card'];

/** The amount of these arguments, where the path is that of the amount. */
export function amountAt(card: Card, args: unknown, path: string): string | undefined {
  const amount = card?.amount;
  const value = amount?.path === path ? at(args, path) : undefined;
  return amount === undefined || value === undefined ? undefined : amountText(amount, args, value);
}

export interface Sides {
  readonly before: unknown;
  readonly after: unknown;
}

/** What people read in place of the values of a change. */
export function amountsOf(
  card: Card,
  { before, after }: Sides,
  { path }: Change,
): { readonly before?: string; readonly after?: string } {
  const [was, is] = [amountAt(card, before, path), amountAt(card, after, path)];
  return { ...(was !== undefined && { before: was }), ...(is !== undefined && { after: is }) };
}

export interface Leap {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

const FACTOR = 2n;

/** A number that becomes more than twice, or less than half, of what it was; or an amount of another currency. */
export function leapBetween(card: Card, before: Json, after: Json | undefined): Leap | undefined {
  const amount = card?.amount;
  for (const change of changesBetween(before, after)) {
    const { path } = change;
    const isCurrency = amount !== undefined && path === amount.currency;
    const place = isCurrency ? amount.path : path;
    if (!isCurrency && !isLeap(change, amount?.path === path)) continue;
    const text = (args: Json | undefined): string =>
      amountAt(card, args, place) ?? JSON.stringify(at(args, place)) ?? 'nothing';
    return { path: place, before: text(before), after: text(after) };
  }
  return undefined;
}

/** Texts of digits may be names: they are amounts only where the tool says so. */
function isLeap({ before, after }: Change, isAmount: boolean): boolean {
  const areNumbers = typeof before === 'number' && typeof after === 'number';
  if (!areNumbers && !isAmount) return false;
  const [was, is] = [decimalOf(before), decimalOf(after)];
  return was !== undefined && is !== undefined && isBeyondFactor(was, is, FACTOR);
}
