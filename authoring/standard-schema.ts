/**
 * Schemas of other libraries by the Standard Schema interface: valibot, arktype, effect and others.
 * Invariants: `parse(parse(x).value).value` equals `parse(x).value`, or the input is refused; a value that has passed is
 * plain JSON with declared fields only.
 */
import { canonicalJson, type Json } from '../core/json/json.js';
import { declaredOnly } from './declared-fields.js';

const ISSUES_SHOWN_MAX = 20;
const MESSAGE_CHARS_MAX = 2_000;
const TARGET = 'draft-2020-12';

export type ParsedInput =
  { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string };

/** A schema of any library that implements Standard Schema (version 1); the model is told its JSON Schema. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type Types<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>;
export type StandardInputOf<Schema extends StandardSchema> = Types<Schema>['input'];
export type StandardOutputOf<Schema extends StandardSchema> = Types<Schema>['output'];

export function isStandard(schema: unknown): schema is StandardSchema {
  // Schemas of arktype are functions.
  const isPart = (typeof schema === 'object' && schema !== null) || typeof schema === 'function';
  return isPart && typeof (schema as Partial<StandardSchema>)['~standard']?.validate === 'function';
}

/** Its JSON Schema as the library gives it; undefined: the library gives none. Throws what the library throws. */
export function jsonSchemaOfStandard(schema: StandardSchema): unknown {
  const { jsonSchema } = schema['~standard'] as {
    readonly jsonSchema?: { readonly input?: (options: { readonly target: string }) => unknown };
  };
  if (typeof jsonSchema?.input === 'function') return jsonSchema.input({ target: TARGET });
  const { toJsonSchema } = schema as { readonly toJsonSchema?: unknown };
  if (typeof toJsonSchema === 'function') return (toJsonSchema as () => unknown).call(schema);
  return undefined;
}

/** What its author must be told of it at once; undefined: it can be used. */
export function standardDefect(schema: StandardSchema): string | undefined {
  try {
    const checked = schema['~standard'].validate({});
    if (!(checked instanceof Promise)) return undefined;
    checked.catch(() => undefined);
    return 'it has an asynchronous check';
  } catch {
    // A check that throws for an empty object says so again for the input of the model.
    return undefined;
  }
}

/** A value as the schema lets it pass. */
export function parseStandard(schema: StandardSchema, told: Json, value: unknown): ParsedInput {
  const first = declared(told, parseStandardOnce(schema, value));
  if (!first.ok) return first;
  const again = declared(told, parseStandardOnce(schema, first.value));
  if (again.ok && canonicalJson(again.value) === canonicalJson(first.value)) return first;
  return {
    ok: false,
    message: 'The schema changes a value that it has parsed before: a conversion belongs into run.',
  };
}

function declared(told: Json, parsed: ParsedInput): ParsedInput {
  return parsed.ok ? { ok: true, value: declaredOnly(told, parsed.value) } : parsed;
}

/** The same where a value is checked once and goes nowhere else. */
export function parseStandardOnce(schema: StandardSchema, value: unknown): ParsedInput {
  const result = schema['~standard'].validate(value);
  if (result instanceof Promise) return refused(asynchronous(result));
  if (result.issues !== undefined) return refused(wordsOf(result.issues));
  const text = JSON.stringify(result.value) as string | undefined;
  if (text === undefined) return refused('The schema makes no JSON of it.');
  return { ok: true, value: JSON.parse(text) as Json };
}

function refused(message: string): ParsedInput {
  const isLong = message.length > MESSAGE_CHARS_MAX;
  return { ok: false, message: isLong ? `${message.slice(0, MESSAGE_CHARS_MAX - 1)}…` : message };
}

function asynchronous(result: Promise<unknown>): string {
  result.catch(() => undefined);
  return 'The schema checks asynchronously, which no tool can.';
}

function wordsOf(issues: readonly StandardIssue[]): string {
  const lines = issues.slice(0, ISSUES_SHOWN_MAX).map(({ message, path = [] }) => {
    const at = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
    return at === '' ? `✖ ${message}` : `✖ ${message}\n  → at ${at}`;
  });
  const more = issues.length - lines.length;
  return [...lines, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n');
}
