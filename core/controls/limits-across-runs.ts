/**
 * Limits across runs: how much, and how often, a tool may do in a day and in all.
 * Invariants: what may have happened counts, and only what is known not to have happened is given back; a
 * limit is never passed, not even by workers that claim at once (the store holds the totals meanwhile).
 */

/** In the unit of the tool's own amounts. */
export interface LimitRule {
  readonly amount?: number;
  readonly count?: number;
}

export const LIMIT_SCOPES = ['perCustomerAndDay', 'perDay', 'inAll'] as const;
export type LimitScope = (typeof LIMIT_SCOPES)[number];

/** A day is one of UTC. */
export type LimitRules = { readonly [scope in LimitScope]?: LimitRule };

/** What one execution takes of them. */
export interface Spending {
  readonly amount: number;
  readonly customer?: string;
}

export interface Total {
  readonly amount: number;
  readonly count: number;
}

export type Totals = { readonly [scope in LimitScope]: Total };

export const NOTHING_SPENT: Total = { amount: 0, count: 0 };

const DAY_MS = 86_400_000;

/** Number of the day in UTC. */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/** The names under which totals are kept; of a spending without a customer two. */
export function totalNames(
  { customer }: Spending,
  day: number,
): { readonly [scope in LimitScope]?: string } {
  return {
    ...(customer !== undefined && { perCustomerAndDay: `customer:${day}:${customer}` }),
    perDay: `day:${day}`,
    inAll: 'all',
  };
}

export interface Exceedance {
  readonly scope: LimitScope;
  readonly unit: 'amount' | 'count';
  readonly limit: number;
  readonly used: number;
  readonly wanted: number;
}

/** The first limit that this spending would pass; undefined: it fits into all of them. */
export function exceedance(
  rules: LimitRules,
  totals: Totals,
  { amount }: Pick<Spending, 'amount'>,
): Exceedance | undefined {
  for (const scope of LIMIT_SCOPES) {
    const rule = rules[scope];
    const used = totals[scope];
    if (rule?.count !== undefined && used.count + 1 > rule.count)
      return { scope, unit: 'count', limit: rule.count, used: used.count, wanted: 1 };
    if (rule?.amount !== undefined && used.amount + amount > rule.amount)
      return { scope, unit: 'amount', limit: rule.amount, used: used.amount, wanted: amount };
  }
  return undefined;
}

const SCOPE_WORDS: { readonly [scope in LimitScope]: string } = {
  perCustomerAndDay: 'for one customer and day',
  perDay: 'for one day',
  inAll: 'in all',
};

/** What the model is told. What others have used is not its customer's business. */
export function limitMessage(tool: string, over: Exceedance): string {
  const again =
    over.scope === 'inAll'
      ? 'Do not call it again; a person has to decide what happens now.'
      : 'Do not call it again today; it may be called when a new day begins in UTC, or a person decides.';
  return `${limitReason(tool, over)} ${again}`;
}

/** The same where nothing is left of the limit, and nobody was asked. */
export function usedUpMessage(tool: string, over: Exceedance): string {
  const again =
    over.scope === 'inAll'
      ? 'Do not call it again, and say so in your answer: the limit does not renew itself.'
      : 'Do not call it again today, and say so in your answer: the limit renews itself when a new day begins in UTC.';
  return `${limitReason(tool, over)} Nothing is left of this limit, so nobody was asked. ${again}`;
}

function limitReason(tool: string, over: Exceedance): string {
  const { scope, unit, limit, used, wanted } = over;
  const own = scope === 'perCustomerAndDay' ? `, ${used} are used, ${wanted} more were wanted` : '';
  const allowed = unit === 'count' ? `${limit} calls` : `an amount of ${limit}`;
  return `Nothing was done: ${tool} is limited to ${allowed} ${SCOPE_WORDS[scope]}${own}.`;
}
