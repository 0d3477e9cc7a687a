/**
 * Checks by a server's JSON Schemas: what they say, and nothing is changed by the check.
 * Invariant: a check ends, although the server may have written the schema and the value: no list of bad patterns is whole, and references
 * take as long without any.
 */
import type { ParsedInput } from '../authoring/schema-forms.js';
import type { Json } from '../core/json/json.js';
import { withinOwnTime } from '../sandbox/time-limit.js';
import { loadValidator } from './sdk.js';

const MESSAGE_CHARS_MAX = 2_000;
/** The process can do nothing else meanwhile; an honest check takes a few ms. */
const CHECK_MS_MAX = 1_000;

/** What is wrong with a value; undefined: it fits. */
export type SchemaCheck = (value: Json) => string | undefined;

/** Errors: the schema cannot be compiled. */
export async function schemaCheck(schema: Json): Promise<SchemaCheck> {
  const { AjvJsonSchemaValidator } = await loadValidator();
  // A name of its own would be known to the next schema that has the same one.
  const { $id: _, ...own } = schema as { readonly [keyword: string]: Json };
  const validate = timed(() => new AjvJsonSchemaValidator().getValidator(own as never));
  return (value) => {
    try {
      // What is compiled keeps nothing of a value, also of one whose check was cut off.
      const result = timed(() => validate(value));
      return result.valid ? undefined : told(result.errorMessage ?? 'it does not fit');
    } catch (error) {
      return told(`its check failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
}

function timed<T>(work: () => T): T {
  const done = withinOwnTime(CHECK_MS_MAX, work);
  if (done.inTime) return done.value;
  throw new Error(`its schema takes longer than ${CHECK_MS_MAX} ms`);
}

export function parseWith(check: SchemaCheck): (value: unknown) => ParsedInput {
  return (value) => {
    const given = value as Json;
    const message = check(given);
    return message === undefined ? { ok: true, value: given } : { ok: false, message };
  };
}

function told(message: string): string {
  return message.slice(0, MESSAGE_CHARS_MAX);
}
