/**
 * What must hold of every goal, whatever happens to it (goals.md §8, g1 to g10). Pure and incremental: a shell feeds each
 * event once, in order, and each step with the goal that it came from, and shows the whole when the goal has ended. All
 * answer with violations in words, none when all is well.
 */
import type { Goal } from '../../core/state/goal/goal.js';
import type { RunEvent } from '../../core/state/event.js';
import type { Run, Step } from '../../core/state/run.js';
import { GOAL_EVENT_PREDICATES } from './invariants/events.js';
import { STEP_PREDICATES, withinBudget } from './invariants/steps.js';
import { takenEvent, takenGoal, type GoalChecking } from './invariants/track.js';

export { startGoalChecking, type GoalChecking } from './invariants/track.js';
export { checkGoalEnd } from './invariants/end.js';

interface Checked {
  readonly state: GoalChecking;
  readonly violations: readonly string[];
}

/** Judges one event of the goal and takes it in. */
export function checkGoalEvent(state: GoalChecking, event: RunEvent): Checked {
  const violations = GOAL_EVENT_PREDICATES.flatMap((predicate) => {
    const violation = predicate(state, event);
    return violation === undefined ? [] : [`event ${event.stamp.seq} ${event.type}: ${violation}`];
  });
  return { state: takenEvent(state, event), violations };
}

/** Judges one step of a goal's `advance`: `before` is the goal it was given. */
export function checkGoalStep(state: GoalChecking, before: Goal, step: Step<Goal>): Checked {
  const received = takenGoal(state, before);
  const decided = takenGoal(received.state, step.run);
  const found = STEP_PREDICATES.flatMap((predicate) => predicate(before, step) ?? []);
  return {
    state: decided.state,
    violations: [...received.violations, ...decided.violations, ...found].map(
      (violation) => `goal step: ${violation}`,
    ),
  };
}

const REQUESTS: readonly string[] = ['call_model', 'compact', 'account_call'];

/** Judges one step of a cycle: (g2) at every request that leaves. */
export function checkCycleStep(goal: Goal, step: Step<Run>): readonly string[] {
  if (!step.effects.some(({ kind }) => REQUESTS.includes(kind))) return [];
  const violation = withinBudget(goal);
  return violation === undefined ? [] : [`step of ${step.run.runId}: ${violation}`];
}
