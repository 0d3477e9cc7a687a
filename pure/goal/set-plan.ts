/** The plan as a person writes it: the whole list, in its order. */
import type { Plan, PlanStep } from '../../core/state/goal/memory.js';
import { MEMORY_LIMITS } from '../../core/state/goal/memory.js';
import type { ProposedStep } from '../../core/state/goal/proposal.js';
import { isSame } from './plan.js';
import { stepsDefect } from './proposal-defect.js';

export interface SaidPlan {
  readonly steps: readonly ProposedStep[];
  /** Of the plan that the person looked at. */
  readonly revision?: number;
  readonly by: string;
  readonly exists: (evidence: string) => boolean;
}

export type SetPlan =
  | { readonly plan: Plan }
  | { readonly reason: 'malformed' | 'stale_plan' | 'not_applicable'; readonly message: string };

/** Steps that the person leaves as they are stay whose they were. */
export function setPlan(plan: Plan, { steps, revision, by, exists }: SaidPlan): SetPlan {
  const defect = stepsDefect(steps);
  if (defect !== undefined) return { reason: 'malformed', message: defect };
  if (revision !== undefined && revision !== plan.revision) {
    const message = `StalePlan: the plan has revision ${plan.revision}, and ${revision} was looked at.`;
    return { reason: 'stale_plan', message };
  }
  const before = new Map(plan.steps.map((step) => [step.id, step]));
  const next: PlanStep[] = [];
  for (const step of steps) {
    const written = writtenStep(step, { before: before.get(step.id), by, exists });
    if (written === undefined) {
      const message = `Step ${step.id} is done only with evidence that exists.`;
      return { reason: 'not_applicable', message };
    }
    next.push(written);
  }
  const same = isSame(next, plan.steps);
  return { plan: same ? plan : { revision: plan.revision + 1, steps: next } };
}

interface Site extends Pick<SaidPlan, 'by' | 'exists'> {
  readonly before: PlanStep | undefined;
}

/** Undefined: it would be done without evidence. */
function writtenStep(step: ProposedStep, { before, by, exists }: Site): PlanStep | undefined {
  const { id, title, status, note } = step;
  const isDone = status === 'done';
  const named = (step.evidence ?? []).filter(exists).slice(0, MEMORY_LIMITS.evidenceIds);
  const kept = before?.status === 'done' ? (before.evidence ?? []) : [];
  const evidence = named.length > 0 ? named : kept;
  if (isDone && evidence.length === 0) return undefined;
  const said = note === undefined || note === '' ? {} : { note };
  const unchanged =
    before !== undefined &&
    before.title === title &&
    before.status === status &&
    (before.note ?? '') === (note ?? '');
  if (unchanged) return isDone && named.length > 0 ? { ...before, evidence } : before;
  return {
    id,
    title,
    status,
    ...said,
    ...(isDone && { evidence }),
    by,
    byPerson: true,
    ...((before?.counted || isDone) && { counted: true }),
  };
}
