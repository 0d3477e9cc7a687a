/**
 * A tool's input schema in its two forms: JSON Schema for the model, a parser for what the model sends.
 * Invariant: `parse(parse(x).value).value` equals `parse(x).value`.
 */
import { z } from 'zod';
import { digestOf } from '../core/digest.js';
import { HoldfastError } from '../core/errors.js';
import type { Json } from '../core/json.js';
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

/** Checks that a schema can travel and gives both its forms; throws InvalidTool otherwise. */
export function inputSchemaOf(tool: string, schema: z.ZodType): InputSchema {
  const defect = findSchemaDefect(schema);
  if (defect !== undefined) throw unfit(tool, `${at(defect.path)} uses ${defect.what}`);
  const jsonSchema = toJsonSchema(tool, schema);
  if ((jsonSchema as { type?: unknown }).type !== 'object') {
    throw new HoldfastError('InvalidTool', `The input of tool ${tool} is not an object.`, {
      hint: 'Declare the input as z.object({…}); models send arguments by name.',
    });
  }
  const bytes = Buffer.byteLength(JSON.stringify(jsonSchema));
  if (bytes > SCHEMA_BYTES_MAX) {
    throw unfit(tool, `it takes ${bytes} bytes as JSON Schema, the limit is ${SCHEMA_BYTES_MAX}`);
  }
  const parse = (value: unknown): ParsedInput => parseWith(schema, value);
  refuseAsyncChecks(tool, schema);
  return { jsonSchema, hash: digestOf(jsonSchema), parse };
}

function toJsonSchema(tool: string, schema: z.ZodType): Json {
  try {
    const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input' });
    // A round trip leaves plain JSON: zod attaches a hidden `~standard` property.
    return JSON.parse(JSON.stringify(rest)) as Json;
  } catch (cause) {
    throw unfit(tool, cause instanceof Error ? cause.message : String(cause));
  }
}

function parseWith(schema: z.ZodType, value: unknown): ParsedInput {
  try {
    const parsed = schema.safeParse(value);
    if (parsed.success) return { ok: true, value: parsed.data as Json };
    return { ok: false, message: bounded(z.prettifyError(parsed.error)) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, message: bounded(`The tool's input check failed: ${reason}`) };
  }
}

function refuseAsyncChecks(tool: string, schema: z.ZodType): void {
  try {
    schema.safeParse({});
  } catch (error) {
    if (error instanceof z.core.$ZodAsyncError) throw unfit(tool, 'it has an asynchronous check');
  }
}

function unfit(tool: string, why: string): HoldfastError {
  return new HoldfastError(
    'InvalidTool',
    `The input schema of tool ${tool} cannot travel to the model and back: ${why}.`,
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
