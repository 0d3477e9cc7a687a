/**
 * How much more of a budget a person allows: `6s`, `$0.50`, `12`.
 * Invariant: exact; what the smallest unit of the budget cannot say is refused, never rounded.
 */
import type { Json } from '../../core/json/json.js';
import { budgetAmount, budgetName } from '../../core/money/budget-words.js';
import { dollars } from '../../core/money/dollars.js';
import type { BudgetField } from '../../core/state/run.js';
import { usage } from '../usage.js';

/** As it was typed: a number, and which unit stands at it. */
export interface GivenAmount {
  readonly text: string;
  readonly number: string;
  /** Absent: the unit of the budget itself. */
  readonly unit?: Unit;
}

interface Unit {
  readonly of: 'money' | 'time';
  /** In the smallest units of such a budget. */
  readonly size: number;
}

export const AMOUNT_HELP =
  'of a question about a budget: how much more, as 0.50usd, 6s, 5min or 2h; a number without a unit is micro-USD of money, milliseconds of time, else a count';
export const AMOUNT_OPTION = '--amount <amount>';

const USD: Unit = { of: 'money', size: 1_000_000 };
const MINUTE: Unit = { of: 'time', size: 60_000 };
const UNITS: ReadonlyMap<string, Unit> = new Map([
  ['usd', USD],
  ['ms', { of: 'time', size: 1 }],
  ['s', { of: 'time', size: 1_000 }],
  ['m', MINUTE],
  ['min', MINUTE],
  ['h', { of: 'time', size: 3_600_000 }],
  ['d', { of: 'time', size: 86_400_000 }],
]);
const SMALLEST = { money: 'micro-USD', time: 'millisecond' } as const;
const MANY = { money: ' micro-USD', time: ' milliseconds', count: '' } as const;
const TEXT_CHARS_MAX = 40;
/** Micro-USD. Less without a unit is hardly meant where more is asked for. */
const BARE_MONEY_MIN = 1_000;

/** Errors: Usage for what is no amount of anything. */
export function amountIn(text: string): GivenAmount {
  const given = readAmount(text);
  if (given !== undefined) return given;
  throw usage(
    `--amount must be an amount, not "${text.slice(0, TEXT_CHARS_MAX)}".`,
    'Give 0.50usd of money, 6s, 5min or 2h of time, a whole number of anything else.',
  );
}

/** Reads an option that takes money alone, in micro-USD. Errors: Usage. */
export function moneyIn(option: string): (text: string) => number {
  return (text) => {
    const given = readAmount(text);
    const { size = 1, of = 'money' } = given?.unit ?? {};
    // Micro-USD have no parts: 2.00 means dollars.
    const isMeant = given?.unit !== undefined || given?.number.includes('.') === false;
    const amount = isMeant && of === 'money' ? inSmallest(given.number, size) : undefined;
    if (amount !== undefined && amount <= Number.MAX_SAFE_INTEGER) return Number(amount);
    throw usage(
      `${option} must be an amount of money, not "${text.slice(0, TEXT_CHARS_MAX)}".`,
      HINTS.money,
    );
  };
}

function readAmount(text: string): GivenAmount | undefined {
  const [, sign, number, name = ''] =
    /^(\$?)\s*(\d{1,20}(?:\.\d{1,20})?)\s*([a-z]*)$/i.exec(text.trim()) ?? [];
  const unit = sign === '$' ? USD : UNITS.get(name.toLowerCase());
  const isKnown = sign === '$' ? /^(?:usd)?$/i.test(name) : name === '' || unit !== undefined;
  if (number === undefined || !isKnown) return undefined;
  return { text: text.trim(), number, ...(unit !== undefined && { unit }) };
}

/** The amount in the budget's own unit. Errors: Usage for one that does not fit the budget of the question. */
export function amountFor(given: GivenAmount, args: Json | undefined): number {
  const { text, number, unit } = given;
  const { field } = askedIn(args);
  const of = field === undefined ? 'count' : measureOf(field);
  if (unit !== undefined && unit.of !== of) throw otherUnit(given, field);
  const amount = inSmallest(number, unit?.size ?? 1);
  if (amount === undefined) throw tooFine(given, of);
  if (of === 'money' && unit === undefined) checkMeant(text, Number(amount), args);
  if (amount >= 1 && amount <= Number.MAX_SAFE_INTEGER) return Number(amount);
  throw usage(
    `--amount must be from 1 to ${Number.MAX_SAFE_INTEGER}${MANY[of]}, not ${text}.`,
    'Nothing was sent: give another amount, or reject the question.',
  );
}

/** A shell makes `2` of `$12`: no such amount is taken for micro-USD without a word. */
function checkMeant(text: string, microUsd: number, args: Json | undefined): void {
  const { amount: asked = 0 } = askedIn(args);
  if (microUsd >= BARE_MONEY_MIN || asked < BARE_MONEY_MIN) return;
  throw usage(
    `--amount ${text} would be ${dollars(microUsd)}, and the question asks for ${dollars(asked)}.`,
    `Nothing was sent: give ${text}usd for dollars. A shell takes $ for a variable; quote it, or write usd.`,
  );
}

/** `6 s more of time`, `$0.50 more of money`, `5 more turns`; undefined: the question does not say of what. */
export function allowedText(args: Json | undefined, amount: number): string | undefined {
  const { field } = askedIn(args);
  if (field === undefined) return undefined;
  const shown = budgetAmount(field as BudgetField, amount);
  const name = nameOf(field);
  return measureOf(field) === 'count' ? `${shown} more ${name}` : `${shown} more of ${name}`;
}

/** A yes without an amount allows as much as the question names. */
export function askedAmount(args: Json | undefined): number | undefined {
  return askedIn(args).amount;
}

const HINTS = {
  money: 'Give 0.50usd, or a whole number of micro-USD.',
  time: 'Give 6s, 5min or 2h, or a whole number of milliseconds.',
  count: 'Give a whole number, without a unit.',
} as const;

/** Of a run, or of a goal alone; a newer one has its own name. */
function nameOf(field: string): string {
  if (field === 'maxCycles') return 'cycles';
  const known: string | undefined = budgetName(field as BudgetField);
  return known ?? field;
}

type Measure = 'money' | 'time' | 'count';

function measureOf(field: string): Measure {
  if (field.endsWith('MicroUsd')) return 'money';
  return field.endsWith('Ms') ? 'time' : 'count';
}

function tooFine({ text, unit }: GivenAmount, of: Measure) {
  if (unit === undefined && of !== 'count')
    return usage(`--amount ${text} has no unit.`, `Nothing was sent. ${HINTS[of]}`);
  const least =
    of === 'count' ? 'give a whole number' : `one ${SMALLEST[of]} is the smallest amount`;
  const words = of === 'count' ? 'no whole number' : `no whole number of ${MANY[of].trim()}`;
  return usage(`--amount ${text} is ${words}.`, `Nothing was sent: ${least}.`);
}

function otherUnit({ text, unit }: GivenAmount, field: string | undefined) {
  if (field === undefined) {
    return usage(
      `The question does not say which budget is used up, so ${text} has no meaning.`,
      'Nothing was sent: give a whole number in the own unit of the budget (micro-USD, milliseconds or a count).',
    );
  }
  return usage(
    `The question asks for more ${nameOf(field)}, and ${text} is ${unit?.of ?? 'another unit'}.`,
    `Nothing was sent. ${HINTS[measureOf(field)]}`,
  );
}

/** Undefined: the number is finer than the smallest unit. */
function inSmallest(number: string, size: number): bigint | undefined {
  const [whole = '', fraction = ''] = number.split('.');
  const scale = 10n ** BigInt(fraction.length);
  const scaled = BigInt(whole + fraction) * BigInt(size);
  return scaled % scale === 0n ? scaled / scale : undefined;
}

/** Of a run and of a goal. */
function askedIn(args: Json | undefined): { readonly field?: string; readonly amount?: number } {
  const { field, budget = field, amount } = (args ?? {}) as { readonly [name: string]: unknown };
  return {
    ...(typeof budget === 'string' && { field: budget }),
    ...(typeof amount === 'number' && { amount }),
  };
}
