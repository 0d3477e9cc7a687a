/**
 * The input schema of a tool: JSON Schema for the model, a parser for what the model sends.
 * Invariant: `parse(parse(x).value).value` equals `parse(x).value`.
 */
import type { z } from 'zod';
import { digestOf, type Json } from '../core/json/json.js';
import { HoldfastError } from '../core/state/errors.js';
import { declaredOnly, leaveOpen } from './declared-fields.js';
import {
  guarded,
  isZod,
  jsonSchemaOf,
  parseWith,
  plainCopy,
  refuseLarge,
  standardJson,
  zodOf,
  type InputDeclaration,
  type JsonSchema,
  type ParsedInput,
} from './schema-forms.js';
import { isTold } from './schema-walk.js';
import { isStandard, parseStandard, type StandardSchema } from './standard-schema.js';

export interface InputSchema {
  readonly jsonSchema: Json;
  /** sha256 of the canonical JSON Schema. */
  readonly hash: string;
  readonly parse: (value: unknown) => ParsedInput;
}

/** Checks that a schema can travel and gives both its forms; throws InvalidTool otherwise. */
export function inputSchemaOf(tool: string, schema: InputDeclaration): InputSchema {
  // Code without types may leave the input out.
  if ((schema as unknown) != null) {
    const both = eitherInput(tool, schema);
    if ((both.jsonSchema as { type?: unknown }).type === 'object') return both;
  }
  throw new HoldfastError('InvalidTool', `The input of tool ${tool} is not an object.`, {
    hint: "Declare the input as z.object({…}) or { type: 'object', properties: {…} }; models send arguments by name.",
  });
}

function eitherInput(tool: string, schema: InputDeclaration): InputSchema {
  if (isZod(schema)) return zodInput(tool, schema);
  return isStandard(schema) ? standardInput(tool, schema) : jsonInput(tool, schema);
}

function standardInput(tool: string, schema: StandardSchema): InputSchema {
  const told = standardJson({ tool, side: 'input' }, schema);
  const parse = (value: unknown): ParsedInput =>
    guarded('input', () => parseStandard(schema, told, value));
  return { jsonSchema: told, hash: digestOf(told), parse };
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

function zodInput(tool: string, schema: z.ZodType): InputSchema {
  const jsonSchema = jsonSchemaOf({ tool, side: 'input' }, schema);
  if (!isTold(schema)) leaveOpen(jsonSchema);
  const parse = (value: unknown): ParsedInput => parseWith(schema, 'input', value);
  return { jsonSchema, hash: digestOf(jsonSchema), parse };
}
