/**
 * What a task may look like: the one check for callers and for the worker that opens the run (G67).
 * Invariants: total and bounded, whatever comes in; the first defect is named by its path. What only a
 * worker can judge, such as whether a schema can be compiled, is not here.
 */
import { z } from 'zod';
import type { Condition } from '../core/json/condition.js';
import { depthOf, SHAPE_DEPTH_MAX } from '../core/json/json-depth.js';
import { fitsBytes } from '../core/json/json.js';
import { parseAttachments } from '../core/messages/parse-attachments.js';
import type { Criterion, Evidence, Task } from '../core/state/task.js';

const LIST_MAX = 100;
const LINE_CHARS_MAX = 2_000;
export const GOAL_CHARS_MAX = 200_000;
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

/** The first defect of a task; `unknownFields: 'refused'` also finds misspelt ones. */
export function taskDefect(
  task: unknown,
  unknownFields: 'ignored' | 'refused' = 'ignored',
): TaskDefect | undefined {
  // Before anything walks it: deep values overflow the stack of whoever serialises them.
  if (depthOf(task) > SHAPE_DEPTH_MAX) return { path: 'task', why: 'it nests too deeply' };
  const issues = TASKS[unknownFields].safeParse(task).error?.issues ?? [];
  // A misspelt field explains the one that is missing.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  return issue && { path: ['task', ...issue.path].join('.'), why: issue.message };
}

/** A schema for each field of T; others are refused by their name. */
function wholly<T>(fields: { readonly [Name in keyof Required<T>]: z.ZodType }) {
  const known = Object.keys(fields).join(', ');
  return z.strictObject(fields, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return 'it must be an object';
      const shown = JSON.stringify(String(issue.keys?.[0]).slice(0, 60));
      return `it has no field ${shown}; fields are ${known}`;
    },
  });
}

function text(charsMax: number) {
  return z.string('it must be a text').max(charsMax, `it is longer than ${charsMax}`);
}

function words(charsMax: number) {
  return text(charsMax).refine((value) => value.trim() !== '', 'it must not be blank');
}

function list(item: z.ZodType, bytesMax = LIST_BYTES_MAX) {
  return z
    .array(z.unknown(), 'it must be a list')
    .max(LIST_MAX, `it has more than ${LIST_MAX} entries`)
    .pipe(z.array(item))
    .refine((value) => fitsBytes(value, bytesMax), 'it is too large');
}

function plainJson(bytesMax: number) {
  return z
    .custom(isRecord, { error: 'it must be an object', abort: true })
    .refine(isJson, { error: 'it must be plain JSON', abort: true })
    .refine((value) => fitsBytes(value, bytesMax), `it must be JSON of at most ${bytesMax} bytes`);
}

const name = words(NAME_CHARS_MAX);
const line = words(LINE_CHARS_MAX);
const number = z.number('it must be a number').optional();

const ID = 'it must be 1 to 128 of A-Z a-z 0-9 . _ : -';
const id = z.string(ID).regex(/^[A-Za-z0-9._:-]{1,128}$/, ID);

const PATH = 'it must be a dotted path';

/** A misspelt condition would hold of everything. */
const condition = wholly<Condition>({
  path: z
    .string(PATH)
    .max(500, PATH)
    .regex(/^[^.]+(\.[^.]+)*$/, PATH),
  equals: z
    .unknown()
    .refine((value) => value === undefined || isJson(value), 'it must be JSON')
    .optional(),
  lte: number,
  gte: number,
  exists: z.boolean('it must be true or false').optional(),
}).refine(
  ({ equals, lte, gte, exists }) => [equals, lte, gte, exists].some((one) => one !== undefined),
  'it compares with nothing; give equals, lte, gte or exists',
);

const SUBJECTS = ['output', 'answer', 'evidence', 'tools', 'state'];

const criterionCondition = condition.refine(
  ({ path }) => SUBJECTS.includes(String(path).split('.')[0] ?? ''),
  { error: `it must begin with one of ${SUBJECTS.join(', ')}`, path: ['path'] },
);

const evidence = wholly<Evidence>({
  id: name,
  satisfiedBy: name,
  predicate: condition.optional(),
});

const criterion = wholly<Criterion>({
  id: name,
  description: words(500).optional(),
  when: criterionCondition,
});

/** People are compared letter by letter: who looks the same must be written the same. */
const person = name.refine(
  (value) => value.normalize('NFC') === value,
  'it must be in Unicode normal form C',
);

const attachments = z.unknown().superRefine((value, context) => {
  const parsed = parseAttachments(value);
  if (!parsed.ok)
    context.addIssue({ code: 'custom', message: `it cannot be used: ${parsed.reason}` });
});

const task = wholly<Task>({
  goal: words(GOAL_CHARS_MAX),
  taskId: id.optional(),
  traceId: name.optional(),
  caller: person.optional(),
  constraints: list(line, CONSTRAINTS_BYTES_MAX).optional(),
  allowedActions: list(line).optional(),
  forbiddenActions: list(line).optional(),
  denied: text(LINE_CHARS_MAX).optional(),
  requiredEvidence: list(evidence, CONDITIONS_BYTES_MAX).optional(),
  successCriteria: list(criterion, CONDITIONS_BYTES_MAX).optional(),
  stopReasons: list(name).optional(),
  outputSchema: plainJson(OUTPUT_SCHEMA_BYTES_MAX).optional(),
  metadata: plainJson(METADATA_BYTES_MAX).optional(),
  attachments: attachments.optional(),
});
/** Their names. */
export const TASK_FIELDS: readonly string[] = Object.keys(task.shape);
const TASKS = { refused: task, ignored: task.strip() } as const;

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Depth is limited before anything gets here, size is not: a library's schema keeps an issue of each value that does not
 * fit, and takes minutes for what is judged here in a moment.
 */
function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  return (Array.isArray(value) || isPlain(value)) && Object.values(value).every(isJson);
}

/** No date, no map, nothing of a class: as JSON they would be something else. */
function isPlain(value: unknown): value is object {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
