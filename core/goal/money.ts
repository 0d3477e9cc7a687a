/**
 * A goal's money and counts: reserved before they are spent.
 * Invariant: spent + reserved ≤ budget whenever a cycle, a review or a judge begins.
 */
import type { Limit } from '../state/budget-fields.js';
import type { Counters } from '../state/result.js';
import type { Usage } from '../state/model.js';
import type { Goal, OpenGoal } from '../state/goal/goal.js';
import type { GoalBudgetField, Slice } from '../state/goal/terms.js';
import { left } from '../step/clock.js';

/** What a cycle would get now; undefined: the money does not allow the least that one may start with. */
export function nextSlice(goal: OpenGoal): Slice | undefined {
  const { terms } = goal;
  const { cycle, roundMicroUsd } = terms;
  const free = freeMicroUsd(goal) - roundMicroUsd;
  const maxCostMicroUsd = Math.min(cycle.maxCostMicroUsd, free);
  if (maxCostMicroUsd < cycle.maxCostMicroUsd && maxCostMicroUsd < cycle.minCostMicroUsd)
    return undefined;
  return {
    maxCostMicroUsd,
    maxModelCalls: within(cycle.maxModelCalls, leftOf(goal, 'maxModelCalls')),
    maxToolCalls: within(cycle.maxToolCalls, leftOf(goal, 'maxToolCalls')),
    maxInputTokens: within(cycle.maxInputTokens, leftOf(goal, 'maxInputTokens')),
    maxOutputTokens: within(cycle.maxOutputTokens, leftOf(goal, 'maxOutputTokens')),
  };
}

function within(own: Limit, rest: number): Limit {
  const limit = own === 'unlimited' ? rest : Math.min(own, rest);
  return Number.isFinite(limit) ? limit : 'unlimited';
}

/** Neither spent nor reserved. */
export function freeMicroUsd({ terms, money }: OpenGoal): number {
  return Math.max(0, terms.budget.maxCostMicroUsd - money.spentMicroUsd - money.reservedMicroUsd);
}

/** What a review or a judge may cost now: of what is set aside for a pass that which is left. */
export function questionMicroUsd(goal: OpenGoal): number {
  const asked = goal.pass?.askedMicroUsd ?? 0;
  return Math.max(0, Math.min(goal.terms.roundMicroUsd - asked, freeMicroUsd(goal)));
}

/** Of all but money; Infinity when there is no limit. */
export function leftOf(goal: OpenGoal, field: Exclude<GoalBudgetField, 'maxCostMicroUsd'>): number {
  return left(usedOf(goal, field), goal.terms.budget[field]);
}

export function usedOf(goal: Goal, field: Exclude<GoalBudgetField, 'maxCostMicroUsd'>): number {
  const { counters } = goal.tally;
  switch (field) {
    case 'maxCycles':
      return goal.cycles;
    case 'maxModelCalls':
      return counters.modelCalls;
    case 'maxToolCalls':
      return counters.toolCalls;
    case 'maxInputTokens':
      return inputOf(counters.usage);
    case 'maxOutputTokens':
      return counters.usage.output;
  }
}

function inputOf({ input, cacheRead, cacheWrite }: Usage): number {
  return input + cacheRead + cacheWrite;
}

export function reserve(goal: OpenGoal, microUsd: number): OpenGoal {
  const { money } = goal;
  return {
    ...goal,
    money: { ...money, reservedMicroUsd: money.reservedMicroUsd + microUsd },
  };
}

export interface Spent {
  /** What was reserved for it. */
  readonly reservedMicroUsd: number;
  readonly costMicroUsd: number;
  readonly of: 'children' | 'reviews' | 'judges';
}

export function settle(goal: OpenGoal, { reservedMicroUsd, costMicroUsd, of }: Spent): OpenGoal {
  const { money } = goal;
  return {
    ...goal,
    money: {
      ...money,
      reservedMicroUsd: Math.max(0, money.reservedMicroUsd - reservedMicroUsd),
      spentMicroUsd: money.spentMicroUsd + costMicroUsd,
      [of]: money[of] + costMicroUsd,
    },
  };
}

export function plus(sum: Counters, more: Partial<Counters>): Counters {
  const add = (name: CountName): number => sum[name] + (more[name] ?? 0);
  const usage = more.usage ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const compactions = more.compactions ?? { proactive: 0, reactive: 0 };
  return {
    modelCalls: add('modelCalls'),
    turnCount: add('turnCount'),
    step: add('step'),
    proposedCalls: add('proposedCalls'),
    toolCalls: add('toolCalls'),
    toolAttempts: add('toolAttempts'),
    deniedCalls: add('deniedCalls'),
    invalidCalls: add('invalidCalls'),
    skippedCalls: add('skippedCalls'),
    inputRequests: add('inputRequests'),
    notStartedCalls: add('notStartedCalls'),
    recoveryCount: add('recoveryCount'),
    compactions: {
      proactive: sum.compactions.proactive + compactions.proactive,
      reactive: sum.compactions.reactive + compactions.reactive,
    },
    stopHookReentries: add('stopHookReentries'),
    fallbacks: add('fallbacks'),
    usage: {
      input: sum.usage.input + usage.input,
      output: sum.usage.output + usage.output,
      cacheRead: sum.usage.cacheRead + usage.cacheRead,
      cacheWrite: sum.usage.cacheWrite + usage.cacheWrite,
    },
    costMicroUsd: add('costMicroUsd'),
    activeMs: add('activeMs'),
    waitingMs: add('waitingMs'),
  };
}

type CountName = {
  [Name in keyof Counters]: Counters[Name] extends number ? Name : never;
}[keyof Counters];
