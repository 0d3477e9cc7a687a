/**
 * The schemas of a tool. Input: JSON Schema for the model, a parser for what the model sends. Output: a check
 * of what the tool returned (G73).
 * Invariants: `parse(parse(x).value).value` equals `parse(x).value`; checking an output changes nothing.
 */
import { z } from 'zod';
import { digestOf, type Json } from '../core/json/json.js';
import { HoldfastError } from '../core/state/errors.js';
import { declaredOnly } from './declared-fields.js';
import { withRequiredFields } from './required-fields.js';
import { findSchemaDefect } from './schema-walk.js';

const SCHEMA_BYTES_MAX = 32 * 1024;
const MESSAGE_CHARS_MAX = 2_000;

export type ParsedInput =
  { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string };

export interface InputSchema {
  readonly jsonSchema: Json;
  /** sha256 of the canonical JSON Schema. */
  readonly hash: string;
  readonly parse: (value: unknown) => ParsedInput;
}

export interface OutputSchema {
  /** sha256 of the canonical JSON Schema. */
  readonly hash: string;
  /** What is wrong with a result, as JSON; undefined: it fits. */
  readonly defectOf: (value: Json) => string | undefined;
}

/** A JSON Schema, the model is told this one word for word. */
export interface JsonSchema {
  readonly type: 'object';
  readonly [keyword: string]: unknown;
}

/** What a tool takes, as its author writes it. */
export type InputDeclaration = z.ZodType | JsonSchema;

/** Checks that a schema can travel and gives both its forms; throws InvalidTool otherwise. */
export function inputSchemaOf(tool: string, schema: InputDeclaration): InputSchema {
  const both = isZod(schema) ? zodInput(tool, schema) : jsonInput(tool, schema);
  if ((both.jsonSchema as { type?: unknown }).type === 'object') return both;
  throw new HoldfastError('InvalidTool', `The input of tool ${tool} is not an object.`, {
    hint: 'Declare the input as z.object({…}); models send arguments by name.',
  });
}

function isZod(schema: InputDeclaration): schema is z.ZodType {
  return typeof schema === 'object' && schema !== null && '_zod' in schema;
}

/** A JSON Schema lets further fields pass that it says nothing of: the tool does not get them. */
function jsonInput(tool: string, schema: JsonSchema): InputSchema {
  const owner = { tool, side: 'input' } as const;
  const told = plainCopy(owner, schema);
  refuseLarge(owner, told);
  const { parse } = zodInput(tool, zodOf(owner, told));
  return {
    jsonSchema: told,
    hash: digestOf(told),
    parse(value) {
      const parsed = parse(value);
      return parsed.ok ? { ok: true, value: declaredOnly(told, parsed.value) } : parsed;
    },
  };
}

function plainCopy(owner: Owner, schema: JsonSchema): Json {
  try {
    const { $schema: _dialect, ...rest } = schema;
    return JSON.parse(JSON.stringify(rest)) as Json;
  } catch (cause) {
    throw unfit(owner, cause instanceof Error ? cause.message : String(cause));
  }
}

function zodOf(owner: Owner, schema: Json): z.ZodType {
  try {
    return z.fromJSONSchema(withRequiredFields(schema) as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (cause) {
    throw unfit(owner, cause instanceof Error ? cause.message : String(cause));
  }
}

function zodInput(tool: string, schema: z.ZodType): InputSchema {
  const jsonSchema = jsonSchemaOf({ tool, side: 'input' }, schema);
  const parse = (value: unknown): ParsedInput => parseWith(schema, 'input', value);
  return { jsonSchema, hash: digestOf(jsonSchema), parse };
}

/** What a result is checked against; throws InvalidTool for a schema that would change it. */
export function outputSchemaOf(tool: string, schema: z.ZodType): OutputSchema {
  const jsonSchema = jsonSchemaOf({ tool, side: 'output' }, schema);
  const defectOf = (value: Json): string | undefined => {
    const parsed = parseWith(schema, 'output', value);
    return parsed.ok ? undefined : parsed.message;
  };
  return { hash: digestOf(jsonSchema), defectOf };
}

/** JSON Schema of an agent's answer, as its author writes it: zod or JSON Schema; throws InvalidAgent otherwise. */
export function answerSchemaOf(agent: string, schema: InputDeclaration): Json {
  const owner = { tool: agent, side: 'output' } as const;
  try {
    if (isZod(schema)) return jsonSchemaOf(owner, schema);
    const told = plainCopy(owner, schema);
    refuseLarge(owner, told);
    zodOf(owner, told);
    return told;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new HoldfastError(
      'InvalidAgent',
      `The outputSchema of sub-agent ${agent} cannot be used: ${why}`,
      {
        hint: 'Declare it as z.object({…}) of plain JSON types, or as JSON Schema.',
      },
    );
  }
}

/** Whose schema it is, for the message of an error. */
interface Owner {
  readonly tool: string;
  readonly side: 'input' | 'output';
}

function jsonSchemaOf(owner: Owner, schema: z.ZodType): Json {
  const defect = findSchemaDefect(schema);
  if (defect !== undefined) throw unfit(owner, `${at(defect.path)} uses ${defect.what}`);
  const jsonSchema = toJsonSchema(owner, schema);
  refuseLarge(owner, jsonSchema);
  refuseAsyncChecks(owner, schema);
  return jsonSchema;
}

function refuseLarge(owner: Owner, jsonSchema: Json): void {
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

function parseWith(schema: z.ZodType, side: Owner['side'], value: unknown): ParsedInput {
  try {
    const parsed = schema.safeParse(value);
    if (parsed.success) return { ok: true, value: parsed.data as Json };
    return { ok: false, message: bounded(z.prettifyError(parsed.error)) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, message: bounded(`The tool's ${side} check failed: ${reason}`) };
  }
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
