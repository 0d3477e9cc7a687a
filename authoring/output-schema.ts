/**
 * The check of what a tool returned (G73) and of what an agent answered.
 * Invariant: checking changes nothing.
 */
import type { z } from 'zod';
import { digestOf, type Json } from '../core/json/json.js';
import { HoldfastError, type ErrorCode } from '../core/state/errors.js';
import { isRecord } from '../pure/options.js';
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
  type InputOf,
  type Owner,
  type ParsedInput,
} from './schema-forms.js';
import { isStandard, parseStandardOnce } from './standard-schema.js';

export interface OutputSchema {
  /** sha256 of the canonical JSON Schema. */
  readonly hash: string;
  /** What is wrong with a result, as JSON; undefined: it fits. */
  readonly defectOf: (value: Json) => string | undefined;
}

/** What a result is checked against; throws InvalidTool for a schema that would change it. */
export function outputSchemaOf(tool: string, schema: InputDeclaration): OutputSchema {
  const { told, parse } = outputCheck({ tool, side: 'output' }, schema);
  return {
    hash: digestOf(told),
    defectOf(value) {
      const parsed = parse(value);
      return parsed.ok ? undefined : parsed.message;
    },
  };
}

interface OutputCheck {
  readonly told: Json;
  readonly parse: (value: Json) => ParsedInput;
}

function outputCheck(owner: Owner, schema: InputDeclaration): OutputCheck {
  if (!isSchema(schema)) throw noSchema('InvalidTool', `The output of tool ${owner.tool}`);
  if (isZod(schema)) return { told: jsonSchemaOf(owner, schema), parse: zodParser(schema) };
  if (isStandard(schema)) {
    const parse: OutputCheck['parse'] = (value) =>
      guarded('output', () => parseStandardOnce(schema, value));
    return { told: standardJson(owner, schema), parse };
  }
  const told = plainCopy(owner, schema);
  refuseLarge(owner, told);
  return { told, parse: zodParser(zodOf(owner, told)) };
}

/** Callers without types give anything. */
function isSchema(schema: InputDeclaration): boolean {
  return isStandard(schema) || isRecord(schema);
}

function noSchema(code: ErrorCode, subject: string): HoldfastError {
  return new HoldfastError(code, `${subject} is no schema.`, { hint: FORMS });
}

function zodParser(schema: z.ZodType): OutputCheck['parse'] {
  return (value) => parseWith(schema, 'output', value);
}

export interface AnswerSchema<Output> {
  readonly jsonSchema: { readonly [key: string]: Json };
  /** The answer as the schema types it. Errors: MalformedResult. */
  readonly typed: (answer: Json) => Output;
}

/** What an answer must be, for whoever asks for it; throws InvalidTask for a schema that cannot travel. */
export function answerOf<Schema extends InputDeclaration>(
  schema: Schema,
): AnswerSchema<InputOf<Schema>> {
  const { told, parse } = answerCheck(schema);
  return {
    jsonSchema: told as { readonly [key: string]: Json },
    typed(answer) {
      const parsed = parse(answer);
      if (parsed.ok) return parsed.value as InputOf<Schema>;
      const message = `The answer does not fit the output: ${parsed.message}`;
      throw new HoldfastError('MalformedResult', message, {
        hint: 'Say in the instructions what JSON Schema cannot, or loosen the check.',
      });
    },
  };
}

const FORMS = 'Declare it as z.object({…}) of plain JSON types, or as JSON Schema.';

function answerCheck(schema: InputDeclaration): OutputCheck {
  if (!isSchema(schema)) throw noSchema('InvalidTask', 'The output');
  try {
    return outputCheck({ tool: 'output', side: 'output' }, schema);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new HoldfastError('InvalidTask', `The output cannot be used: ${why}`, {
      hint: FORMS,
      cause,
    });
  }
}

/** JSON Schema of an agent's answer, as its author writes it; throws InvalidAgent otherwise. */
export function answerSchemaOf(agent: string, schema: InputDeclaration): Json {
  try {
    return outputCheck({ tool: agent, side: 'output' }, schema).told;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new HoldfastError(
      'InvalidAgent',
      `The outputSchema of sub-agent ${agent} cannot be used: ${why}`,
      { hint: FORMS },
    );
  }
}
