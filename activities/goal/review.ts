/** What of a reviewer's answer the goal acts on. */
import type { GoalMemory } from '../../core/state/goal/memory.js';
import type { AskJudgeOutput } from '../../core/state/goal/payloads.js';
import type { ProposedStep } from '../../core/state/goal/proposal.js';
import { factsOf, memoryText } from '../../pure/goal/memory.js';
import { mergeSteps } from '../../pure/goal/plan.js';
import type { StoreCalls } from '../../store/store.js';
import type { ReviewOutput } from './judge-output.js';

export interface ReviewPlace {
  readonly store: StoreCalls;
  readonly tenant: string;
  readonly memory: GoalMemory;
}

type Review = NonNullable<AskJudgeOutput['review']>;

/** Its plan is folded into a memory of its own: the goal decides whether that takes the place of the one it has. */
export async function reviewOf(
  place: ReviewPlace,
  output: ReviewOutput,
): Promise<Omit<Review, 'because' | 'evidence'>> {
  const { objective_valid: objectiveValid, approval_needed: approval, handoff, pauseMs } = output;
  return {
    objectiveValid,
    ...(typeof approval === 'boolean' && { approvalNeeded: approval }),
    ...(typeof handoff === 'string' && { handoff }),
    ...(pauseMs !== undefined && { pauseMs }),
    ...(await planOf(place, output.plan ?? [])),
  };
}

type GivenStep = Omit<ProposedStep, 'note'> & { readonly note?: string | undefined };

async function planOf(
  { store, tenant, memory }: ReviewPlace,
  given: readonly GivenStep[],
): Promise<Pick<Review, 'memory' | 'plan'>> {
  const { plan: base } = memory;
  const steps = given.map(({ note, ...step }): ProposedStep => ({
    ...step,
    ...(note !== undefined && { note }),
  }));
  const { plan } = mergeSteps(base, steps, {
    by: 'reviewer',
    people: new Set(),
    exists: () => false,
    marksDone: false,
    scope: 'all',
  });
  if (plan === base) return {};
  const { $blob } = await store.putBlob(tenant, memoryText({ ...memory, plan }));
  return { memory: $blob, plan: factsOf(plan) };
}
