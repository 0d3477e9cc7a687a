/**
 * A plan takes the place of the one before.
 * Invariant: each change of the plan is one `plan_changed`.
 */
import type { ChangedPlan, OpenGoal } from '../state/goal/goal.js';
import { tell } from './telling.js';

export function planAdopted(goal: OpenGoal, { memory, facts, by }: ChangedPlan): OpenGoal {
  return tell(
    { ...goal, memory, plan: facts },
    {
      type: 'plan_changed',
      by,
      revision: facts.revision,
      memory,
      steps: { open: facts.open, done: facts.done, all: facts.steps },
    },
  );
}
