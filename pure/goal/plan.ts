/**
 * How plans change: steps are merged by their ids.
 * Invariants: a step becomes done only with evidence that exists (g4); what a person wrote is changed and dropped by
 * people alone; what a person did to the plan after a cycle had read it wins over what the cycle makes of it; each change
 * raises the revision.
 */
import { canonicalJson, type Json } from '../../core/json/json.js';
import { MEMORY_LIMITS, type Plan, type PlanStep } from '../../core/state/goal/memory.js';
import type { ProposedStep } from '../../core/state/goal/proposal.js';

export interface PlanChange {
  readonly added: number;
  readonly dropped: number;
  readonly renamed: number;
  /** Steps that were there before and are done now, for the first time. */
  readonly done: readonly string[];
}

export const NO_CHANGE: PlanChange = { added: 0, dropped: 0, renamed: 0, done: [] };

export interface MergedPlan {
  readonly plan: Plan;
  readonly change: PlanChange;
  /** What did not count, in words. */
  readonly superseded: readonly string[];
}

export interface MergeRules {
  /** 'agent' or 'reviewer'. */
  readonly by: string;
  /** Steps that people wrote, changed or took out after the plan was read. */
  readonly people: ReadonlySet<string>;
  readonly exists: (evidence: string) => boolean;
  /** Work marks steps as done; a reviewer does not. */
  readonly marksDone: boolean;
  /** 'marks': steps are neither added nor dropped nor renamed. */
  readonly scope: 'all' | 'marks';
}

export function mergeSteps(
  plan: Plan,
  proposed: readonly ProposedStep[],
  rules: MergeRules,
): MergedPlan {
  const current = new Map(plan.steps.map((step) => [step.id, step]));
  const next = new Map(current);
  const superseded: string[] = [];
  for (const step of proposed) {
    const merged = mergedStep(step, current.get(step.id), rules);
    if (typeof merged === 'string') superseded.push(merged);
    else if (merged !== undefined) next.set(step.id, merged);
  }
  const steps = fitting(ordered(next, { plan, proposed, rules }));
  if (steps === undefined) {
    const full = `the plan would have more than ${MEMORY_LIMITS.steps} steps`;
    return { plan, change: NO_CHANGE, superseded: [...superseded, full] };
  }
  const change = changeOf(current, steps);
  const counted = steps.map((step) =>
    change.done.includes(step.id) ? { ...step, counted: true as const } : step,
  );
  const same = isSame(counted, plan.steps);
  const changed = same ? plan : { revision: plan.revision + 1, steps: counted };
  return { plan: changed, change, superseded };
}

/** Those that differ from what was read, in a way that only people can make. */
export function changedByPeople(read: Plan, plan: Plan): ReadonlySet<string> {
  const now = new Map(plan.steps.map((step) => [step.id, step]));
  const then = new Map(read.steps.map((step) => [step.id, step]));
  const gone = read.steps.filter(({ id }) => !now.has(id));
  const written = plan.steps.filter(
    (step) => step.byPerson === true && !isSame(then.get(step.id) ?? null, step),
  );
  return new Set([...gone, ...written].map(({ id }) => id));
}

/** The step as it is from now on; a text: why it stays as it is; undefined: nothing comes of it here. */
function mergedStep(
  step: ProposedStep,
  before: PlanStep | undefined,
  rules: MergeRules,
): PlanStep | string | undefined {
  if (rules.people.has(step.id)) return `a person changed step ${step.id} meanwhile`;
  if (before === undefined) return rules.scope === 'marks' ? undefined : newStep(step, rules);
  if (before.byPerson !== true) return workedOn(before, step, rules);
  if (step.status === 'dropped') return `step ${step.id} is a person's and is not dropped`;
  return workedOn(before, { ...step, title: before.title, note: before.note ?? '' }, rules);
}

function newStep(step: ProposedStep, rules: MergeRules): PlanStep {
  const start: PlanStep = { id: step.id, title: step.title, status: 'open', by: rules.by };
  return workedOn(start, step, rules);
}

function workedOn(before: PlanStep, step: ProposedStep, rules: MergeRules): PlanStep {
  const { scope, by } = rules;
  const status = statusOf(before, step, rules);
  const evidence = status === 'done' ? provenBy(before, step, rules) : [];
  const title = scope === 'marks' ? before.title : step.title;
  const note = step.note === undefined || step.note === '' ? undefined : step.note;
  const own = before.byPerson === true;
  return {
    id: before.id,
    title,
    status,
    ...(note !== undefined && { note }),
    ...(evidence.length > 0 && { evidence }),
    by: own ? before.by : by,
    ...(own && { byPerson: true }),
    ...(before.counted && { counted: true }),
  };
}

function statusOf(before: PlanStep, step: ProposedStep, rules: MergeRules): PlanStep['status'] {
  if (step.status === 'dropped') return rules.scope === 'marks' ? before.status : 'dropped';
  if (step.status !== 'done' || before.status === 'done') return step.status;
  return rules.marksDone && provenBy(before, step, rules).length > 0 ? 'done' : before.status;
}

/** With none of its own a step that is done keeps what it has. */
function provenBy(before: PlanStep, { evidence = [] }: ProposedStep, { exists }: MergeRules) {
  const real = [...new Set(evidence)].filter(exists).slice(0, MEMORY_LIMITS.evidenceIds);
  return real.length > 0 ? real : before.status === 'done' ? (before.evidence ?? []) : [];
}

interface Order {
  readonly plan: Plan;
  readonly proposed: readonly ProposedStep[];
  readonly rules: MergeRules;
}

/** A list that names every step says their order too; one that names some leaves it. */
function ordered(
  steps: ReadonlyMap<string, PlanStep>,
  { plan, proposed, rules }: Order,
): readonly PlanStep[] {
  const names = proposed.map(({ id }) => id);
  const isWhole = rules.scope === 'all' && plan.steps.every(({ id }) => names.includes(id));
  const ids = isWhole ? names : [...steps.keys()];
  return ids.flatMap((id) => steps.get(id) ?? []);
}

/** Dropped steps make room, oldest first; undefined: there is none. */
function fitting(steps: readonly PlanStep[]): readonly PlanStep[] | undefined {
  const excess = steps.length - MEMORY_LIMITS.steps;
  if (excess <= 0) return steps;
  const gone = steps
    .filter(({ status, byPerson }) => status === 'dropped' && byPerson !== true)
    .slice(0, excess)
    .map(({ id }) => id);
  return gone.length < excess ? undefined : steps.filter(({ id }) => !gone.includes(id));
}

export function changeOf(
  before: ReadonlyMap<string, PlanStep>,
  after: readonly PlanStep[],
): PlanChange {
  const known = after.flatMap((step) => {
    const old = before.get(step.id);
    return old === undefined ? [] : [{ old, step }];
  });
  const left = new Set(after.map(({ id }) => id));
  const removed = [...before.values()].filter(
    ({ id, status }) => !left.has(id) && status !== 'dropped',
  );
  return {
    added: after.length - known.length,
    dropped:
      removed.length +
      known.filter(({ old, step }) => step.status === 'dropped' && old.status !== 'dropped').length,
    renamed: known.filter(({ old, step }) => old.title !== step.title).length,
    done: known
      .filter(({ old, step }) => step.status === 'done' && old.status !== 'done' && !old.counted)
      .map(({ step }) => step.id),
  };
}

/** As JSON: a plan comes back from the store with its keys in another order. */
export function isSame(one: unknown, other: unknown): boolean {
  return canonicalJson(one as Json) === canonicalJson(other as Json);
}
