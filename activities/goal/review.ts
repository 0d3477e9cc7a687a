/** What of a reviewer's answer the goal acts on. */
import type { GoalMemory } from '../../core/state/goal/memory.js';
import type { AskJudgeOutput } from '../../core/state/goal/payloads.js';
import type { StoreCalls } from '../../store/store.js';
import type { ReviewOutput } from './judge-output.js';

export interface ReviewPlace {
  readonly store: StoreCalls;
  readonly tenant: string;
  readonly memory: GoalMemory;
}

type Review = NonNullable<AskJudgeOutput['review']>;

/** Its plan is folded into a memory of its own: the goal decides whether it takes its place. */
export async function reviewOf(
  _place: ReviewPlace,
  { objective_valid: objectiveValid, approval_needed: approval, handoff, pauseMs }: ReviewOutput,
): Promise<Omit<Review, 'because' | 'evidence'>> {
  return {
    objectiveValid,
    ...(typeof approval === 'boolean' && { approvalNeeded: approval }),
    ...(typeof handoff === 'string' && { handoff }),
    ...(pauseMs !== undefined && { pauseMs }),
  };
}
