/**
 * What a card shows first of an action: how much, and to whom, as the tool declares it.
 * Invariants: nothing is guessed from the names of arguments; limits and what was done before are said in the unit of
 * the headline, or as the bare numbers that they are.
 */
import type { LimitsOutlook } from '../core/controls/outlook.js';
import type { Json } from '../core/json/json.js';
import { isCurrencyCode, type CardAmount, type ToolCard } from '../core/state/tool-card.js';
import { currencyDigits } from './currencies.js';
import { compareDecimals, decimalOf, decimalText, shifted, type Decimal } from './decimal.js';

export interface Headline {
  readonly amount?: Headed;
  readonly recipient?: Headed;
}

export interface Headed {
  /** Path of the argument; absent: the limits of the tool count it. */
  readonly path?: string;
  readonly name: string;
  /** `1,250.00 EUR`. */
  readonly value: string;
  /** As the argument has it. */
  readonly raw: string;
}

/** What of a question the headline is made of. */
export interface HeadedAction {
  readonly args?: unknown;
  readonly card?: ToolCard | undefined;
  readonly limits?: Pick<LimitsOutlook, 'amount' | 'customer' | 'limits'> | undefined;
}

export function headlineOf(action: HeadedAction): Headline {
  const amount = amountOf(action);
  const recipient = recipientOf(action);
  return { ...(amount !== undefined && { amount }), ...(recipient !== undefined && { recipient }) };
}

function amountOf({ args, card, limits }: HeadedAction): Headed | undefined {
  const declared = card?.amount;
  if (declared !== undefined) {
    const { path } = declared;
    const raw = at(args, path);
    if (raw === undefined || raw === null) return undefined;
    const value = amountText(declared, args, raw);
    return { path, name: labelOf(card, path), value, raw: textOf(raw) };
  }
  if (limits === undefined || !countsAmounts(limits)) return undefined;
  const value = wholeText(limits.amount);
  return { name: 'amount, as its limits count', value, raw: String(limits.amount) };
}

function recipientOf({ args, card, limits }: HeadedAction): Headed | undefined {
  const path = card?.recipient;
  if (path !== undefined) {
    const raw = at(args, path);
    if (raw === undefined || raw === null) return undefined;
    return { path, name: labelOf(card, path), value: textOf(raw), raw: textOf(raw) };
  }
  const customer = limits?.customer;
  if (customer === undefined) return undefined;
  return { name: 'customer, as its limits count', value: customer, raw: customer };
}

/** What people read in place of the argument's name. */
export function labelOf(card: ToolCard | undefined, path: string): string {
  const { labels = {} } = card ?? {};
  return (Object.hasOwn(labels, path) ? labels[path] : undefined) ?? path;
}

/** An amount of these arguments as people write it; what is no number stays as it is. */
export function amountText(declared: CardAmount, args: unknown, raw: Json): string {
  const number = decimalOf(raw);
  if (number === undefined) return textOf(raw);
  const { code, digits } = currencyOf(declared, args);
  const named = code === undefined ? '' : ` ${code}`;
  if (declared.unit === 'major') return `${decimalText(number, digits ?? 0)}${named}`;
  if (digits === undefined) return `${decimalText(number, 0)} of the smallest unit${named}`;
  return `${decimalText(shifted(number, -digits), digits)}${named}`;
}

interface Currency {
  readonly code?: string;
  /** Behind the point; absent: nobody knows. */
  readonly digits?: number;
}

function currencyOf({ currency }: CardAmount, args: unknown): Currency {
  const said = isCurrencyCode(currency) ? currency : at(args, currency);
  if (typeof said !== 'string' || said === '') return {};
  const code = said.toUpperCase();
  const digits = currencyDigits(code);
  return digits === undefined ? { code: said } : { code, digits };
}

/** The numbers that limits count in, as people read them. */
export type Counted = (amount: number) => string;

/**
 * In the unit of the headline where what this call takes tells how the two belong together. A currency that calls may
 * choose is named for this call only: limits add up amounts of all of them.
 */
export function countedIn({ args, card, limits }: HeadedAction): {
  readonly own: Counted;
  readonly all: Counted;
} {
  const declared = card?.amount;
  const raw = declared && decimalOf(at(args, declared.path));
  const taken = limits && decimalOf(limits.amount);
  if (declared === undefined || raw === undefined || taken === undefined) return BARE;
  const { code, digits } = currencyOf(declared, args);
  if (digits === undefined || limits?.amount === 0) return BARE;
  const value = declared.unit === 'minor' ? shifted(raw, -digits) : raw;
  const places = [digits, 0].find((one) => isSame(shifted(taken, -one), value));
  if (places === undefined) return BARE;
  const text = (amount: number): string => {
    const number = decimalOf(amount);
    return number === undefined ? String(amount) : decimalText(shifted(number, -places), digits);
  };
  const named = (amount: number): string => `${text(amount)} ${code}`;
  return { own: named, all: isCurrencyCode(declared.currency) ? named : text };
}

const BARE = { own: wholeText, all: wholeText };

function wholeText(amount: number): string {
  const number = decimalOf(amount);
  return number === undefined ? String(amount) : decimalText(number, 0);
}

function isSame(one: Decimal, other: Decimal): boolean {
  return compareDecimals(one, other) === 0;
}

/** Limits on how often a tool is called count no amounts. */
export function countsAmounts({ limits }: Pick<LimitsOutlook, 'limits'>): boolean {
  return limits.some(({ amount }) => amount !== undefined);
}

/** The part of the arguments at a path; undefined: there is none. */
export function at(args: unknown, path: string): Json | undefined {
  let value: unknown = args;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) {
      return undefined;
    }
    value = (value as { readonly [name: string]: unknown })[name];
  }
  return value as Json;
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
