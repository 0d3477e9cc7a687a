/** The memory of a goal as a value: the first one, its text, what is counted of it. */
import type { PlanFacts } from '../../core/state/goal/facts.js';
import { canonicalJson, type Json } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { GoalMemory, Plan } from '../../core/state/goal/memory.js';

export const EMPTY_MEMORY: GoalMemory = {
  v: 1,
  plan: { revision: 0, steps: [] },
  state: {},
  notes: [],
  log: [],
  measurements: {},
  reviews: [],
  children: [],
  evidence: [],
  ancestors: [],
};

/** The one text of a memory: equal memories have equal texts. */
export function memoryText(memory: GoalMemory): string {
  return canonicalJson(memory as unknown as Json);
}

/** Our own text. Errors: `Internal` for one of a later release. */
export function memoryIn(text: string): GoalMemory {
  const memory = JSON.parse(text) as GoalMemory;
  if (memory.v === 1) return memory;
  throw new HoldfastError('Internal', 'The memory of the goal was written by a later release.', {
    hint: 'Upgrade the worker.',
  });
}

export function factsOf({ revision, steps }: Plan): PlanFacts {
  const done = steps.filter(({ status }) => status === 'done').length;
  const dropped = steps.filter(({ status }) => status === 'dropped').length;
  return { revision, open: steps.length - done - dropped, done, steps: steps.length };
}

/** The newest of a list that is kept short. */
export function newest<T>(list: readonly T[], max: number): readonly T[] {
  return list.length <= max ? list : list.slice(-max);
}

/** The first characters, one less where that would split a surrogate pair. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const splits = /[\uD800-\uDBFF]/.test(text.charAt(max - 2));
  return `${text.slice(0, splits ? max - 2 : max - 1)}…`;
}
