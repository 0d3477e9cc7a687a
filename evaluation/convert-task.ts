/**
 * The task of a case. The format leaves the form of constraints and success criteria open; the runtime takes
 * lines that the model is told, and conditions that it can check.
 * Invariant: what nothing can check is said to the model, never dropped.
 */
import type { Json } from '../core/json/json.js';
import type { PolicyCondition } from '../core/state/policy.js';
import type { CaseTask, JsonObject } from './fixture.js';
import type { FixtureDocument } from './format/document.js';

const DEFAULT_GOAL = 'Handle the case.';

export function taskOf({ case_id, goal = DEFAULT_GOAL, task = {} }: FixtureDocument): CaseTask {
  const { constraints, successCriteria, outputSchema, requiredEvidence, ...rest } = task;
  const { checked, told } = criteriaOf(successCriteria as Json | undefined);
  const lines = [...linesOf(constraints as Json | undefined), ...told];
  return {
    taskId: case_id,
    ...rest,
    goal,
    ...(lines.length > 0 && { constraints: lines }),
    ...(checked.length > 0 && { successCriteria: checked }),
    ...(outputSchema !== undefined && { outputSchema: outputSchema as JsonObject }),
    ...(requiredEvidence !== undefined && {
      requiredEvidence: requiredEvidence.map(({ predicate, ...evidence }) => ({
        ...evidence,
        ...(predicate !== undefined && { predicate: predicate as PolicyCondition }),
      })),
    }),
  };
}

/** `"text"`, `["text", …]` or `{"name": value, …}` as lines. */
function linesOf(value: Json | undefined): readonly string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.map((one: Json) => wordsOf(one));
  if (typeof value !== 'object') return [wordsOf(value)];
  return Object.entries(value).map(([name, one]) => `${name}: ${wordsOf(one)}`);
}

function wordsOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

interface Criteria {
  readonly checked: readonly Json[];
  readonly told: readonly string[];
}

function criteriaOf(value: Json | undefined): Criteria {
  if (value === undefined || value === null) return { checked: [], told: [] };
  const entries = Array.isArray(value) ? value : [value];
  const checked: Json[] = [];
  const told: string[] = [];
  for (const entry of entries as readonly Json[]) {
    const criterion = criterionOf(entry, checked.length);
    if (criterion !== undefined) checked.push(criterion);
    else told.push(...linesOf(entry).map((line) => `It is done when: ${line}`));
  }
  return { checked, told };
}

/** A criterion as the runtime has it, or its condition alone; undefined: nothing that can be checked. */
function criterionOf(entry: Json, index: number): Json | undefined {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return undefined;
  const id = `criterion_${index + 1}`;
  if ('when' in entry) return { id, ...entry };
  return 'path' in entry ? { id, when: entry } : undefined;
}
