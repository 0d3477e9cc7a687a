/**
 * goal_plan: steps that a cycle adds or changes.
 * Invariants: a step becomes done only with evidence that exists; what a person wrote stays as they wrote it, work may
 * only say how far it is.
 */
import { MEMORY_LIMITS, type Plan, type PlanStep } from '../../core/state/goal/memory.js';
import type { ProposedStep } from '../../core/state/goal/proposal.js';
import { mergeSteps, type MergedPlan } from '../../pure/goal/plan.js';
import { citedOf, refused, type CycleSite, type Judged } from './cycle-site.js';

const FOLD = { by: 'agent', marksDone: true, scope: 'all', people: new Set<string>() } as const;

/** The plan as the cycle has it: what it began with, and what it proposed since. */
export function planAfter({ memory, before }: Pick<CycleSite, 'memory' | 'before'>): Plan {
  return before.reduce<Plan>(
    (plan, proposal) => (proposal.kind === 'plan' ? merged(plan, proposal.steps).plan : plan),
    memory.plan,
  );
}

/** What is cited was looked up when it was proposed. */
function merged(plan: Plan, steps: readonly ProposedStep[]): MergedPlan {
  return mergeSteps(plan, steps, { ...FOLD, exists: () => true });
}

interface GivenStep {
  readonly id: string;
  readonly title: string;
  readonly status: ProposedStep['status'];
  readonly note?: string | undefined;
  readonly evidence?: readonly string[] | undefined;
}

export async function judgePlan(
  site: CycleSite,
  { steps }: { readonly steps: readonly GivenStep[] },
): Promise<Judged> {
  const before = planAfter(site);
  const plan = new Map(before.steps.map((step) => [step.id, step]));
  const kept: ProposedStep[] = [];
  const unknown: string[] = [];
  const defects: string[] = [];
  for (const step of steps) {
    const { id, title, status, note, evidence } = step;
    const planned = plan.get(id);
    const cited = await citedOf(site, evidence);
    unknown.push(...cited.unknown);
    const wasDone = planned?.status === 'done' ? (planned.evidence ?? []) : [];
    const proof = [...new Set([...wasDone, ...cited.known])].slice(0, MEMORY_LIMITS.evidenceIds);
    const defect =
      duplicateDefect(step, kept) ??
      personDefect(step, planned) ??
      (status === 'done' && proof.length === 0 ? doneDefect(id, cited.unknown) : undefined);
    if (defect !== undefined) defects.push(defect);
    const shown = status === 'done' ? proof : cited.known;
    kept.push({
      id,
      title,
      status,
      ...(note !== undefined && { note }),
      ...(shown.length > 0 && { evidence: shown }),
    });
  }
  const { plan: after, superseded } = merged(before, kept);
  defects.push(...superseded);
  const distinct = [...new Set(unknown)];
  if (defects.length > 0)
    return refused(`Nothing of it is kept: ${shownDefects(defects)}.`, distinct);
  const says = `Kept: ${kept.length} of ${after.steps.length} steps. The goal takes them over after this cycle.`;
  const less =
    distinct.length === 0 ? '' : ` ${distinct.length} of the ids are no evidence and do not count.`;
  return { proposal: { kind: 'plan', steps: kept }, says: `${says}${less}`, unknown: distinct };
}

const DEFECTS_SHOWN_MAX = 5;
const UNKNOWN_CHARS_MAX = 100;

function shownDefects(defects: readonly string[]): string {
  const shown = defects.slice(0, DEFECTS_SHOWN_MAX).join('; ');
  return defects.length > DEFECTS_SHOWN_MAX ? `${shown}; and more` : shown;
}

function duplicateDefect({ id }: GivenStep, kept: readonly ProposedStep[]): string | undefined {
  const isTwice = kept.some((other) => other.id === id);
  return isTwice ? `step ${JSON.stringify(id)} is there twice` : undefined;
}

function personDefect({ id, title, status }: GivenStep, planned?: PlanStep): string | undefined {
  if (planned?.byPerson !== true) return undefined;
  const changes = title !== planned.title || (status === 'dropped' && planned.status !== 'dropped');
  return changes
    ? `step ${JSON.stringify(id)} is a person's: only its status can be changed`
    : undefined;
}

function doneDefect(id: string, unknown: readonly string[]): string {
  const cited = unknown.map((one) => JSON.stringify(one.slice(0, UNKNOWN_CHARS_MAX))).join(', ');
  const none = cited === '' ? '' : ` ${cited} is none;`;
  return `step ${JSON.stringify(id)} can be done only with evidence that exists:${none} cite an id from a line "[evidence ID]"`;
}
