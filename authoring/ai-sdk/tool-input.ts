/**
 * The input of a tool of the AI SDK: zod, Standard Schema, JSON Schema, or an object made by the SDK's `jsonSchema()`.
 * Invariant: a run carries what the model said; a conversion of the schema happens just before `execute`, and what it refuses
 * has had no effect.
 */
import { HoldfastError } from '../../core/state/errors.js';
import { inputSchemaOf } from '../input-schema.js';
import { isZod, plainCopy, type InputDeclaration, type JsonSchema } from '../schema-forms.js';
import { isStandard, jsonSchemaOfStandard, type StandardSchema } from '../standard-schema.js';
import { ToolError } from '../tool-error.js';

const MESSAGE_CHARS_MAX = 500;
const NO_INPUT: JsonSchema = { type: 'object', properties: {}, additionalProperties: false };

interface TakenInput {
  readonly input: InputDeclaration;
  /** What `execute` gets of what has passed; absent: the same. Errors: ToolError, before anything has happened. */
  readonly converted?: (value: unknown) => Promise<unknown>;
}

/** The part of the SDK's own schema objects that counts. */
interface SdkSchema {
  readonly jsonSchema: unknown;
  readonly validate?: ((value: unknown) => unknown) | undefined;
}

/** Errors: InvalidTool, with what to do. */
export function takenInput(tool: string, schema: unknown): TakenInput {
  if (schema === undefined || schema === null) return { input: NO_INPUT };
  if (isStandard(schema)) return fromStandard(tool, schema);
  if (typeof schema === 'function') return takenInput(tool, made(tool, schema));
  if (typeof schema !== 'object') throw unusable(tool, `it is a ${typeof schema}`);
  if (!('jsonSchema' in schema)) return { input: schema as JsonSchema };
  const { jsonSchema, validate } = schema as SdkSchema;
  if (typeof (jsonSchema as { then?: unknown } | null)?.then === 'function') {
    throw unusable(tool, 'its JSON Schema is a promise');
  }
  if (typeof jsonSchema !== 'object' || jsonSchema === null) {
    throw unusable(tool, 'it has no JSON Schema');
  }
  return {
    input: copyOf(tool, jsonSchema),
    ...(typeof validate === 'function' && {
      converted: async (value) => valueOf(await validate(value)),
    }),
  };
}

/** Schemas that the SDK makes when they are needed. */
function made(tool: string, make: object): unknown {
  const schema = (make as () => unknown)();
  if (typeof schema === 'function' && !isStandard(schema)) {
    throw unusable(tool, 'it is a function of a function');
  }
  return schema;
}

function fromStandard(tool: string, schema: StandardSchema): TakenInput {
  if (isZod(schema as InputDeclaration) && travels(tool, schema)) return { input: schema };
  const told = jsonSchemaIn(schema);
  // Without one the declaration says what its author can do.
  if (typeof told !== 'object' || told === null) return { input: schema };
  return {
    input: copyOf(tool, told),
    converted: async (value) => {
      const result = await schema['~standard'].validate(value);
      if (result.issues === undefined) return result.value;
      throw unfit(result.issues.map(({ message }) => message).join('; '));
    },
  };
}

/** Without what libraries attach to their JSON Schemas, which looks like a schema of its own. */
function copyOf(tool: string, schema: object): JsonSchema {
  return plainCopy({ tool, side: 'input' }, schema) as JsonSchema;
}

function travels(tool: string, schema: StandardSchema): boolean {
  try {
    inputSchemaOf(tool, schema);
    return true;
  } catch (error) {
    if (error instanceof HoldfastError) return false;
    throw error;
  }
}

function jsonSchemaIn(schema: StandardSchema): unknown {
  try {
    return jsonSchemaOfStandard(schema);
  } catch {
    return undefined;
  }
}

function valueOf(validated: unknown): unknown {
  const { success, value, error } = (validated ?? {}) as {
    readonly success?: unknown;
    readonly value?: unknown;
    readonly error?: unknown;
  };
  if (success === true) return value;
  throw unfit(error instanceof Error ? error.message : 'its schema does not say why');
}

function unfit(why: string): ToolError {
  return new ToolError(`The input does not fit: ${why.slice(0, MESSAGE_CHARS_MAX)}`);
}

function unusable(tool: string, why: string): HoldfastError {
  const hint = 'Use zod, another Standard Schema, or jsonSchema({ type: "object", … }).';
  return new HoldfastError('InvalidTool', `Tool ${tool}: its inputSchema cannot be used: ${why}.`, {
    hint,
  });
}
