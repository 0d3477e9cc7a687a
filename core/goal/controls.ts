/**
 * Messages that change how a goal goes on: its budget, its pace, pauses and wakes.
 * Invariant: money is never set below what is spent and reserved, nor above the hard limit.
 */
import type { GoalMessage } from '../state/goal/message.js';
import type { HeldMessage, OpenGoal } from '../state/goal/goal.js';
import { GOAL_BUDGET_FIELDS } from '../state/goal/terms.js';
import type { Step } from '../state/run.js';
import { cancelTimer, only } from '../step/inflight.js';
import type { Json } from '../json/json.js';
import { dollars } from '../money/dollars.js';
import { tell } from './telling.js';
import { wake } from './sleep.js';
import { accept, refuse } from './verdicts.js';

export function withReview(
  goal: OpenGoal,
  message: Extract<GoalMessage, { type: 'review' }>,
): OpenGoal {
  const { objectiveValid, by } = message;
  return {
    ...goal,
    reviewAsked: true,
    ...(objectiveValid !== undefined && { objectiveValid: { valid: objectiveValid, by } }),
  };
}

export function resume(goal: OpenGoal, held: HeldMessage): Step<OpenGoal> {
  const { paused, ...rest } = goal;
  if (paused === undefined) return only(accept(goal, held, 'The goal was not paused.'));
  const { by } = held.message;
  const { sleep } = rest;
  const isPast = sleep?.until !== undefined && sleep.until <= goal.now;
  if (sleep === undefined || (sleep.held !== true && !isPast)) return only(accept(rest, held));
  // Behind the hold of a pause the pace is looked at anew; a time that passed in it has come.
  const woke = wake(rest, by);
  const { sleep: _, ...awake } = woke;
  return only(accept(sleep.held === true ? awake : woke, held));
}

export function untimed(goal: OpenGoal, before: OpenGoal): Step<OpenGoal> {
  const timer = before.sleep?.timer;
  return timer === undefined ? only(goal) : cancelTimer(goal, timer);
}

const KEPT = 'Kept: the next sleep of the goal ends at once.';

/** A wake while anything is open or paused is kept. */
export function woken(goal: OpenGoal, held: HeldMessage): Step<OpenGoal> {
  const { sleep, paused } = goal;
  if (sleep === undefined || sleep.over || paused !== undefined)
    return only(accept({ ...goal, wakeKept: true }, held, KEPT));
  const step = untimed(wake(goal, held.message.by), goal);
  return { run: accept(step.run, held), effects: step.effects };
}

/** Not below what is spent and reserved, money not above the hard limit; by those who may. */
export function setBudget(goal: OpenGoal, held: HeldMessage): OpenGoal {
  const { message, proven } = held;
  if (message.type !== 'setBudget') return goal;
  const { terms, money } = goal;
  const { budgetRoles, hardMaxCostMicroUsd } = terms.budget;
  if (budgetRoles.length > 0 && !message.roles.some((role) => budgetRoles.includes(role)))
    return refuse(goal, held, {
      reason: 'role_missing',
      message: `needs one of the roles ${budgetRoles.join(', ')}`,
    });
  if (budgetRoles.length === 0 && goal.caller !== undefined && goal.caller === message.by)
    return refuse(goal, held, {
      reason: 'own_request',
      message: 'the starter of the goal does not change its budget',
    });
  const wanted = message.budget;
  const least = money.spentMicroUsd + money.reservedMicroUsd;
  const { maxCostMicroUsd } = wanted;
  if (
    maxCostMicroUsd !== undefined &&
    (maxCostMicroUsd < least || maxCostMicroUsd > hardMaxCostMicroUsd)
  )
    return refuse(goal, held, {
      reason: 'beyond_limits',
      message: `possible is ${dollars(least)} to ${dollars(hardMaxCostMicroUsd)}`,
    });
  const fields = Object.fromEntries(
    GOAL_BUDGET_FIELDS.flatMap((field) =>
      wanted[field] === undefined ? [] : [[field, wanted[field]]],
    ),
  );
  const changed: OpenGoal = {
    ...goal,
    terms: { ...terms, budget: { ...terms.budget, ...fields } },
    streaks: { ...goal.streaks, starved: false },
    approvalStale: true,
  };
  const told = tell(changed, {
    type: 'goal_steered',
    by: message.by,
    proven,
    text: { text: '' },
    control: 'setBudget',
    value: fields as Json,
  });
  return accept(told, held);
}

export function setPace(
  goal: OpenGoal,
  held: HeldMessage,
  message: Extract<GoalMessage, { type: 'setPace' }>,
): Step<OpenGoal> {
  const changed: OpenGoal = { ...goal, terms: { ...goal.terms, pace: message.pace } };
  const { sleep } = changed;
  if (sleep === undefined || sleep.over || sleep.held) return only(accept(changed, held));
  // The new pace is looked at from the beginning of this sleep.
  const { sleep: _, ...awake } = wake(changed, message.by);
  const step = untimed(awake, goal);
  return { run: accept(step.run, held), effects: step.effects };
}
