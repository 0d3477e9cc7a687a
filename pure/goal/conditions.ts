/** Which conditions of a goal hold, as far as they are on the result of a check or on the published state. */
import { holds } from '../../core/json/condition.js';
import type { Json } from '../../core/json/json.js';
import type { Done, DoneCondition, Predicate } from '../../core/state/goal/definition.js';
import type { GoalMemory } from '../../core/state/goal/memory.js';

export function conditionsOf(done: Done): readonly DoneCondition[] {
  return 'all' in done ? done.all : done.any;
}

/** By their index: those on this check that its result meets. */
export function heldByCheck(done: Done, check: string, result: Json): readonly number[] {
  return conditionsOf(done).flatMap((condition, index) =>
    'check' in condition &&
    condition.check === check &&
    meets(condition, { value: result, rest: condition.path })
      ? [index]
      : [],
  );
}

/** By their index: those that the published state meets. */
export function heldByState(done: Done, { state }: Pick<GoalMemory, 'state'>): readonly number[] {
  return conditionsOf(done).flatMap((condition, index) =>
    'state' in condition && meets(condition, found(state, condition.state)) ? [index] : [],
  );
}

interface Found {
  readonly value: Json | undefined;
  readonly rest: string | undefined;
}

/** What was published under the path, or what holds it: the longest published path wins. */
function found(state: GoalMemory['state'], path: string): Found {
  const names = path.split('.');
  for (let count = names.length; count > 0; count -= 1) {
    const key = names.slice(0, count).join('.');
    if (!Object.hasOwn(state, key)) continue;
    const rest = names.slice(count).join('.');
    return { value: state[key]?.value, rest: rest === '' ? undefined : rest };
  }
  return { value: undefined, rest: undefined };
}

function meets({ equals, lte, gte, exists }: Predicate, { value, rest }: Found): boolean {
  const condition = {
    path: rest === undefined ? 'it' : `it.${rest}`,
    ...(equals !== undefined && { equals }),
    ...(lte !== undefined && { lte }),
    ...(gte !== undefined && { gte }),
    ...(exists !== undefined && { exists }),
  };
  return holds(condition, value === undefined ? {} : { it: value });
}

/** The number at a path; undefined: there is no finite one. */
export function measured(result: Json, path: string): number | undefined {
  let value: Json | undefined = result;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    value = Object.hasOwn(value, name)
      ? (value as { readonly [key: string]: Json })[name]
      : undefined;
  }
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
