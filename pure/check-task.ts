/**
 * What a task may look like: the one check for callers and for the worker that opens the run (LC-18, G67).
 * Invariants: total and bounded, whatever comes in; the first defect is named by its path. What only a
 * worker can judge, such as whether a schema can be compiled, is not here.
 */
import type { Condition } from '../core/json/condition.js';
import { depthOf, SHAPE_DEPTH_MAX } from '../core/json/json-depth.js';
import { ownValue, type Json, fitsBytes } from '../core/json/json.js';
import type { Criterion, Evidence, Task } from '../core/state/task.js';

const LIST_MAX = 100;
const LINE_CHARS_MAX = 2_000;
const GOAL_CHARS_MAX = 200_000;
const NAME_CHARS_MAX = 128;
/** Sizes below are those of JSON in UTF-8, as payloads count them. */
const LIST_BYTES_MAX = 16_384;
/** All of them together: they travel inline. */
const CONSTRAINTS_BYTES_MAX = 8_000;
const METADATA_BYTES_MAX = 16_384;
const OUTPUT_SCHEMA_BYTES_MAX = 32_768;
/** Evidence and criteria are carried by the run. */
const CONDITIONS_BYTES_MAX = 16_384;

export interface TaskDefect {
  /** `task`, `task.goal`, `task.constraints.1`. */
  readonly path: string;
  readonly why: string;
}

/** undefined: nothing is wrong. */
type Check = (value: unknown, path: string) => TaskDefect | undefined;

/** The first defect of a task; `unknownFields: 'refused'` also finds misspelt ones. */
export function taskDefect(
  task: unknown,
  unknownFields: 'ignored' | 'refused' = 'ignored',
): TaskDefect | undefined {
  // Before anything walks it: deep values overflow the stack of whoever serialises them.
  if (depthOf(task) > SHAPE_DEPTH_MAX) return { path: 'task', why: 'it nests too deeply' };
  return fields(TASK, unknownFields)(task, 'task');
}

function text(charsMax: number, isBlankAllowed = false): Check {
  return (value, path) => {
    if (typeof value !== 'string') return { path, why: 'it must be a text' };
    if (!isBlankAllowed && value.trim() === '') return { path, why: 'it must not be blank' };
    return value.length > charsMax ? { path, why: `it is longer than ${charsMax}` } : undefined;
  };
}

function list(item: Check, bytesMax = LIST_BYTES_MAX): Check {
  return (value, path) => {
    if (!Array.isArray(value)) return { path, why: 'it must be a list' };
    if (value.length > LIST_MAX) return { path, why: `it has more than ${LIST_MAX} entries` };
    for (const [index, one] of (value as readonly unknown[]).entries()) {
      const defect = item(one, `${path}.${index}`);
      if (defect !== undefined) return defect;
    }
    return fitsBytes(value, bytesMax) ? undefined : { path, why: 'it is too large' };
  };
}

function json(bytesMax: number): Check {
  return (value, path) => {
    if (!isRecord(value)) return { path, why: 'it must be an object' };
    if (!isJson(value)) return { path, why: 'it must be plain JSON' };
    return fitsBytes(value, bytesMax)
      ? undefined
      : { path, why: `it must be JSON of at most ${bytesMax} bytes` };
  };
}

function optional(check: Check): Check {
  return (value, path) => (value === undefined ? undefined : check(value, path));
}

type Fields<T> = { readonly [Name in keyof T]-?: Check };

function fields<T>(checks: Fields<T>, unknownFields: 'ignored' | 'refused'): Check {
  return (value, path) => {
    if (!isRecord(value)) return { path, why: 'it must be an object' };
    const byName: { readonly [name: string]: Check } = checks;
    const known = Object.keys(byName);
    const strange = Object.keys(value).find((name) => !known.includes(name));
    if (strange !== undefined && unknownFields === 'refused') {
      const shown = JSON.stringify(strange.slice(0, 60));
      return { path, why: `it has no field ${shown}; fields are ${known.join(', ')}` };
    }
    for (const [name, check] of Object.entries(byName)) {
      const defect = check(ownValue(value, name), `${path}.${name}`);
      if (defect !== undefined) return defect;
    }
    return undefined;
  };
}

const name = text(NAME_CHARS_MAX);
const line = text(LINE_CHARS_MAX);

const id: Check = (value, path) =>
  typeof value === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(value)
    ? undefined
    : { path, why: 'it must be 1 to 128 of A-Z a-z 0-9 . _ : -' };

const CONDITION: Fields<Condition> = {
  path: (value, path) =>
    typeof value === 'string' && value.length <= 500 && /^[^.]+(\.[^.]+)*$/.test(value)
      ? undefined
      : { path, why: 'it must be a dotted path' },
  equals: optional((value, path) => (isJson(value) ? undefined : { path, why: 'it must be JSON' })),
  lte: optional(number),
  gte: optional(number),
  exists: optional((value, path) =>
    typeof value === 'boolean' ? undefined : { path, why: 'it must be true or false' },
  ),
};

/** A misspelt condition would hold of everything. */
const condition: Check = (value, path) => {
  const defect = fields(CONDITION, 'refused')(value, path);
  if (defect !== undefined || !isRecord(value)) return defect;
  const compares = ['equals', 'lte', 'gte', 'exists'].some((key) => value[key] !== undefined);
  return compares
    ? undefined
    : { path, why: 'it compares with nothing; give equals, lte, gte or exists' };
};

const SUBJECTS = ['output', 'answer', 'evidence', 'tools', 'state'];

const criterionCondition: Check = (value, path) => {
  const defect = condition(value, path);
  if (defect !== undefined) return defect;
  const subject = (value as Condition).path.split('.')[0] ?? '';
  return SUBJECTS.includes(subject)
    ? undefined
    : { path: `${path}.path`, why: `it must begin with one of ${SUBJECTS.join(', ')}` };
};

const EVIDENCE: Fields<Evidence> = {
  id: name,
  satisfiedBy: name,
  predicate: optional(condition),
};

const CRITERION: Fields<Criterion> = {
  id: name,
  description: optional(text(500)),
  when: criterionCondition,
};

/** People are compared letter by letter: who looks the same must be written the same. */
const person: Check = (value, path) =>
  name(value, path) ??
  ((value as string).normalize('NFC') === value
    ? undefined
    : { path, why: 'it must be in Unicode normal form C' });

const TASK: Fields<Task> = {
  goal: text(GOAL_CHARS_MAX),
  taskId: optional(id),
  traceId: optional(name),
  caller: optional(person),
  constraints: optional(list(line, CONSTRAINTS_BYTES_MAX)),
  allowedActions: optional(list(line)),
  forbiddenActions: optional(list(line)),
  denied: optional(text(LINE_CHARS_MAX, true)),
  requiredEvidence: optional(list(fields(EVIDENCE, 'refused'), CONDITIONS_BYTES_MAX)),
  successCriteria: optional(list(fields(CRITERION, 'refused'), CONDITIONS_BYTES_MAX)),
  stopReasons: optional(list(name)),
  outputSchema: optional(json(OUTPUT_SCHEMA_BYTES_MAX)),
  metadata: optional(json(METADATA_BYTES_MAX)),
};

function number(value: unknown, path: string): TaskDefect | undefined {
  return typeof value === 'number' && Number.isFinite(value)
    ? undefined
    : { path, why: 'it must be a number' };
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Depth is limited before anything gets here. */
function isJson(value: unknown): value is Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return false;
  return Object.values(value).every(isJson);
}
