/** A checkpoint, and what a goal that goes on with another one takes over from it. */
import type { CheckFacts } from '../../core/state/goal/goal.js';
import type { GoalMemory, PlanStep } from '../../core/state/goal/memory.js';

export interface Checkpoint {
  readonly v: 1;
  /** Run id of the goal. */
  readonly goal: string;
  readonly n: number;
  readonly cycle: number;
  /** ms since epoch. */
  readonly at: number;
  /** Hashes of texts in the store. */
  readonly definition: string;
  readonly memory: string;
  readonly checks: { readonly [name: string]: CheckFacts };
  readonly facts: { readonly [name: string]: number };
}

/** Cycles are counted anew: what is older is of none. Evidence is named by its goal from now on. */
export function carriedOver(memory: GoalMemory, goal: string): GoalMemory {
  const ofGoal = (id: string): string => (id.includes('#') ? id : `${goal}#${id}`);
  const cited = <T extends { readonly evidence?: readonly string[] }>(entry: T): T =>
    entry.evidence === undefined ? entry : { ...entry, evidence: entry.evidence.map(ofGoal) };
  return {
    v: 1,
    plan: {
      revision: memory.plan.revision,
      steps: memory.plan.steps.map((step): PlanStep => cited(step)),
    },
    state: mapped(memory.state, (published) => ({ ...published, cycle: 0 })),
    notes: memory.notes.map((note) => ({ ...cited(note), cycle: 0 })),
    log: [],
    measurements: mapped(memory.measurements, (list) =>
      list.map((measurement) => ({ ...measurement, cycle: 0 })),
    ),
    reviews: [],
    children: [],
    evidence: memory.evidence.map(ofGoal),
    ancestors: [...new Set([...memory.ancestors, goal])],
  };
}

function mapped<T>(
  values: { readonly [name: string]: T },
  change: (value: T) => T,
): { readonly [name: string]: T } {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}

/** By check: the best value so far, of those with the same measure. */
export function bestsOf(
  { checks }: Pick<Checkpoint, 'checks'>,
  sameMeasure: (check: string) => boolean,
): { readonly [check: string]: number } {
  const known = Object.entries(checks).flatMap(([name, { best }]) =>
    best !== undefined && sameMeasure(name) ? [[name, best] as const] : [],
  );
  return Object.fromEntries(known);
}
