/**
 * What a fork of a recorded goal would begin with: a goal goes on from its checkpoints, so a fork begins from the newest one
 * that a step knows, with what is left of every limit.
 * Invariants: pure; nobody's word is taken over; a fork may spend no more than the goal might have.
 */
import { usedOf } from '../core/goal/money.js';
import { pendingOf } from '../core/goal/pending.js';
import { HoldfastError } from '../core/state/errors.js';
import type { GoalBudget, Pace } from '../core/state/goal/definition.js';
import { isOpenGoal, type Goal, type OpenGoal } from '../core/state/goal/goal.js';
import { GOAL_BUDGET_FIELDS } from '../core/state/goal/terms.js';
import type { GoalFold } from './fold.js';

/** What is left of each limit; absent: there is none. */
type BudgetLeft = Partial<GoalBudget> & Pick<GoalBudget, 'maxCostMicroUsd'>;

export interface GoalForkPlan {
  readonly step: number;
  /** Hash of the checkpoint in the store. */
  readonly checkpoint: string;
  /** Hash of the definition in the store, as it was at the step. */
  readonly definition: string;
  /** Agent that works the next cycle. */
  readonly agent: string;
  readonly pace: Pace;
  /** Cycles that have ended. */
  readonly cycles: number;
  /** Spent until then, in micro-USD. */
  readonly spentMicroUsd: number;
  readonly budget: BudgetLeft;
  /** Open questions, which the fork asks when it comes to them. */
  readonly askedAnew: readonly { readonly id: string; readonly kind: string }[];
  /** Cycles without an outcome: what they proposed is no part of a checkpoint. */
  readonly notExecuted: readonly { readonly n: number; readonly runId: string }[];
  /** Words of people that no cycle has read: the fork does not know them. */
  readonly unread: number;
  /** Words to the fork must be signed. */
  readonly requireProof: boolean;
}

/** `given`: limits of the whole, in place of those that the goal had. Errors: `StepNotFound`, `ForkRefused`. */
export function goalForkAt(
  fold: GoalFold,
  step: number,
  given: Partial<GoalBudget> = {},
): GoalForkPlan {
  const { after: goal } = fold.at(step);
  const { cycle, unread, messages, agent, terms, checkpoint } = goal;
  if (!isOpenGoal(goal) || terms === undefined)
    throw refused('The goal was not open at this step.', 'Name a later one.');
  if (goal.ending !== undefined)
    throw refused('The goal was ending at this step.', 'Name an earlier one.');
  if (checkpoint === undefined || goal.pass !== undefined)
    throw refused(
      'The goal was in a pass at this step, before its checkpoint.',
      nextOf(fold, step),
    );
  return {
    step,
    checkpoint,
    definition: terms.definition,
    agent,
    pace: terms.pace,
    cycles: closedOf(goal),
    spentMicroUsd: goal.money.spentMicroUsd,
    budget: leftOf(goal, given),
    askedAnew: pendingOf(goal).map(({ id, kind }) => ({ id, kind })),
    notExecuted: cycle === undefined ? [] : [{ n: cycle.n, runId: cycle.child }],
    unread: unread.length + (cycle?.reads.length ?? 0) + messages.length,
    requireProof: terms.requireProof,
  };
}

/** The open cycle is done by nobody. */
function closedOf({ cycle, cycles }: Goal): number {
  return cycles - (cycle === undefined ? 0 : 1);
}

function leftOf(goal: OpenGoal, given: Partial<GoalBudget>): BudgetLeft {
  const { budget } = goal.terms;
  const { maxCostMicroUsd } = given;
  // A higher limit that is named is the highest as well.
  const hard =
    given.hardMaxCostMicroUsd ?? Math.max(budget.hardMaxCostMicroUsd, maxCostMicroUsd ?? 0);
  const limits = { ...budget, ...given };
  const used = (field: (typeof GOAL_BUDGET_FIELDS)[number]): number => {
    if (field === 'maxCycles') return closedOf(goal);
    return field === 'maxCostMicroUsd' ? goal.money.spentMicroUsd : usedOf(goal, field);
  };
  const left: { [field: string]: number } = {};
  for (const field of GOAL_BUDGET_FIELDS) {
    const limit = limits[field];
    if (typeof limit === 'number') left[field] = rest(field, limit, used(field));
  }
  const { deadlineMs } = limits;
  if (typeof deadlineMs === 'number')
    left['deadlineMs'] = rest('deadlineMs', deadlineMs, goal.now - goal.startedAt);
  return {
    ...(left as unknown as BudgetLeft),
    hardMaxCostMicroUsd: rest('hardMaxCostMicroUsd', hard, goal.money.spentMicroUsd),
    onBudget: limits.onBudget,
    budgetRoles: budget.budgetRoles,
  };
}

function rest(field: string, limit: number, used: number): number {
  if (limit > used) return limit - used;
  throw refused(
    `Of ${field} (${limit}) nothing was left at this step.`,
    `Name a limit above ${used} with --budget ${field}=…, or an earlier step.`,
  );
}

function nextOf({ steps, at }: GoalFold, from: number): string {
  const found = steps.find(({ step }) => {
    const { checkpoint, pass, ending } = at(step).after;
    return step > from && checkpoint !== undefined && pass === undefined && ending === undefined;
  });
  return found === undefined
    ? 'Name an earlier one, or go on with the goal: `holdfast goal restart`.'
    : `Name step ${found.step}.`;
}

function refused(reason: string, hint: string): HoldfastError {
  return new HoldfastError('ForkRefused', reason, { hint });
}
