/**
 * Money of a budget as people write it: `maxCostUsd`, in US dollars, in code, on the command line and in `query()`. Inside
 * the runtime it is integer micro-USD (`maxCostMicroUsd`), which every budget takes as well.
 * Invariants: nobody may spend more than was said, so parts of a micro-USD are left out; an amount that can only be
 * micro-USD by another name is refused, since it would take the limit away in silence.
 */
import type { Limit } from '../core/state/budget-fields.js';
import type { BudgetOverrides } from '../core/state/task.js';
import { fieldsOf, isRecord } from '../pure/options.js';

export interface BudgetInUsd {
  /** Most that it may cost, in USD: 0.1 is ten cents. */
  readonly maxCostUsd?: Limit;
}

/** What a budget may say; what it leaves out has its default. */
export type BudgetLimits = BudgetOverrides & BudgetInUsd;

const MICRO = 1_000_000;
/** 0.29 times a million is not quite 290,000. */
const ROUNDING = 1e-3;
const USD_MAX = Number.MAX_SAFE_INTEGER / MICRO;
/** `usd(0.1)` in place of 0.1: from here on it is taken for micro-USD. */
const IMPLAUSIBLE_USD = 100_000;

const FIELDS = [
  ['maxCostUsd', 'maxCostMicroUsd'],
  ['hardMaxCostUsd', 'hardMaxCostMicroUsd'],
] as const;

/** US dollars in micro-USD, rounded down; undefined: it is no amount. */
export function microUsdOf(dollars: unknown): number | undefined {
  if (typeof dollars !== 'number' || !(dollars >= 0 && dollars <= USD_MAX)) return undefined;
  return Math.floor(dollars * MICRO + ROUNDING);
}

/** Why a limit in USD cannot be used; undefined: it can. */
export function usdDefect(dollars: unknown): string | undefined {
  const amount = microUsdOf(dollars);
  if (typeof dollars !== 'number' || amount === undefined)
    return 'it must be an amount in USD from 0';
  if (dollars >= IMPLAUSIBLE_USD)
    return `it is in USD, and ${dollars} of them look like micro-USD; say 0.5 for 50 cents, without usd(), or give maxCostMicroUsd`;
  return dollars > 0 && amount === 0 ? 'it is less than a millionth of a USD' : undefined;
}

/** Limits of `own` in place of those of `budget`, which may say the same in USD. */
export function withLimits(budget: object, own: object): object {
  const kept = { ...budget } as { [field: string]: unknown };
  for (const [usd, micro] of FIELDS) if (Object.hasOwn(own, micro)) delete kept[usd];
  return { ...kept, ...own };
}

/**
 * The same budget with all money in micro-USD; what is no object stays as it is, for whoever checks it. Errors: what
 * `wrong` makes of a field and of why it cannot be used.
 */
export function inMicroUsd(budget: unknown, wrong: (field: string, why: string) => Error): unknown {
  if (!isRecord(budget)) return budget;
  const given = fieldsOf(budget);
  const fields: { [field: string]: unknown } = { ...given };
  for (const [usd, micro] of FIELDS) {
    if (!Object.hasOwn(given, usd)) continue;
    const dollars = given[usd];
    delete fields[usd];
    if (dollars === undefined) continue;
    if (given[micro] !== undefined)
      throw wrong(usd, `${micro} says the same limit; give one of them`);
    const isUnlimited = dollars === 'unlimited' || dollars === Number.POSITIVE_INFINITY;
    const defect = isUnlimited ? undefined : usdDefect(dollars);
    if (defect !== undefined) throw wrong(usd, defect);
    fields[micro] = isUnlimited ? 'unlimited' : microUsdOf(dollars);
  }
  return fields;
}
