/**
 * What a declared schema becomes: JSON Schema for the model and a check of values, whichever library it is of.
 * Invariant: each function here throws InvalidTool for a schema that cannot be used, with the reason.
 */
import { z } from 'zod';
import type { Json } from '../core/json/json.js';
import { HoldfastError } from '../core/state/errors.js';
import { withRequiredFields } from './required-fields.js';
import { findSchemaDefect } from './schema-walk.js';
import {
  jsonSchemaOfStandard,
  standardDefect,
  type ParsedInput,
  type StandardInputOf,
  type StandardOutputOf,
  type StandardSchema,
} from './standard-schema.js';

const SCHEMA_BYTES_MAX = 32 * 1024;
const MESSAGE_CHARS_MAX = 2_000;

export type { ParsedInput } from './standard-schema.js';

/** A JSON Schema, the model is told this one word for word. */
export interface JsonSchema {
  readonly type: 'object';
  readonly [keyword: string]: unknown;
}

/** What a tool takes, as its author writes it: zod, a schema of another library by Standard Schema, or JSON Schema. */
export type InputDeclaration = z.ZodType | StandardSchema | JsonSchema;

/** What has passed a schema. */
export type InputOf<Schema> = Schema extends z.ZodType
  ? z.output<Schema>
  : Schema extends StandardSchema
    ? StandardOutputOf<Schema>
    : { readonly [name: string]: Json };

/** What fits a schema before it has passed. */
export type FittingOf<Schema> = Schema extends z.ZodType
  ? z.input<Schema>
  : Schema extends StandardSchema
    ? StandardInputOf<Schema>
    : unknown;

export function isZod(schema: InputDeclaration): schema is z.ZodType {
  return typeof schema === 'object' && schema !== null && '_zod' in schema;
}

export function standardJson(owner: Owner, schema: StandardSchema): Json {
  const given = attempt(owner, () => jsonSchemaOfStandard(schema));
  if (typeof given !== 'object' || given === null) throw untold(owner, schema['~standard'].vendor);
  const told = plainCopy(owner, given);
  refuseLarge(owner, told);
  const defect = standardDefect(schema);
  if (defect !== undefined) throw unfit(owner, defect);
  return told;
}

function untold({ tool, side }: Owner, library: string): HoldfastError {
  return new HoldfastError(
    'InvalidTool',
    `The ${side} schema of tool ${tool} has no JSON Schema that the model can be told (${library}).`,
    {
      hint: 'Use zod 4 or arktype; wrap a valibot schema in toStandardJsonSchema of @valibot/to-json-schema; or write JSON Schema.',
    },
  );
}

export function plainCopy(owner: Owner, schema: object): Json {
  // A zod before 3.24 has no Standard Schema: as JSON Schema it would let everything pass.
  const { safeParse } = (schema ?? {}) as { readonly safeParse?: unknown };
  if (typeof safeParse === 'function') throw untold(owner, 'zod 3');
  return attempt(owner, () => {
    const { $schema: _dialect, ...rest } = schema as { readonly $schema?: unknown };
    return JSON.parse(JSON.stringify(rest)) as Json;
  });
}

export function zodOf(owner: Owner, schema: Json): z.ZodType {
  return attempt(owner, () =>
    z.fromJSONSchema(withRequiredFields(schema) as Parameters<typeof z.fromJSONSchema>[0]),
  );
}

/** What goes wrong with a schema is told as a defect of that schema. */
function attempt<T>(owner: Owner, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw unfit(owner, cause instanceof Error ? cause.message : String(cause));
  }
}

/** Whose schema it is, for the message of an error. */
export interface Owner {
  readonly tool: string;
  readonly side: 'input' | 'output';
}

export function jsonSchemaOf(owner: Owner, schema: z.ZodType): Json {
  const defect = findSchemaDefect(schema);
  if (defect !== undefined) throw unfit(owner, `${at(defect.path)} uses ${defect.what}`);
  const jsonSchema = toJsonSchema(owner, schema);
  refuseLarge(owner, jsonSchema);
  refuseAsyncChecks(owner, schema);
  return jsonSchema;
}

export function refuseLarge(owner: Owner, jsonSchema: Json): void {
  const bytes = Buffer.byteLength(JSON.stringify(jsonSchema));
  if (bytes <= SCHEMA_BYTES_MAX) return;
  throw unfit(owner, `it takes ${bytes} bytes as JSON Schema, the limit is ${SCHEMA_BYTES_MAX}`);
}

function toJsonSchema(owner: Owner, schema: z.ZodType): Json {
  try {
    const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input' });
    // A round trip leaves plain JSON: zod attaches a hidden `~standard` property.
    return JSON.parse(JSON.stringify(rest)) as Json;
  } catch (cause) {
    throw unfit(owner, cause instanceof Error ? cause.message : String(cause));
  }
}

export function parseWith(schema: z.ZodType, side: Owner['side'], value: unknown): ParsedInput {
  return guarded(side, () => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return { ok: true, value: parsed.data as Json };
    return { ok: false, message: bounded(z.prettifyError(parsed.error)) };
  });
}

export function guarded(side: Owner['side'], check: () => ParsedInput): ParsedInput {
  try {
    return check();
  } catch (error) {
    const reason = reasonOf(error);
    return { ok: false, message: bounded(`The tool's ${side} check failed: ${reason}`) };
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof z.core.$ZodAsyncError) {
    return 'an asynchronous check belongs into `run`';
  }
  return error instanceof Error ? error.message : String(error);
}

function refuseAsyncChecks(owner: Owner, schema: z.ZodType): void {
  try {
    schema.safeParse({});
  } catch (error) {
    if (error instanceof z.core.$ZodAsyncError) throw unfit(owner, 'it has an asynchronous check');
  }
}

function unfit({ tool, side }: Owner, why: string): HoldfastError {
  const what = side === 'input' ? 'travel to the model and back' : 'check a result as it is';
  return new HoldfastError(
    'InvalidTool',
    `The ${side} schema of tool ${tool} cannot ${what}: ${why}.`,
    {
      hint: 'Use plain JSON types and checks, and convert inside the run function of the tool.',
    },
  );
}

function at(path: string): string {
  return path === '' ? 'it' : `field "${path}"`;
}

function bounded(text: string): string {
  return text.length <= MESSAGE_CHARS_MAX ? text : `${text.slice(0, MESSAGE_CHARS_MAX - 1)}…`;
}
