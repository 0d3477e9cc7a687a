/** Checks by a server's JSON Schemas: what they say, and nothing is changed by the check. */
import type { ParsedInput } from '../authoring/schema-forms.js';
import type { Json } from '../core/json/json.js';
import { loadValidator } from './sdk.js';

const MESSAGE_CHARS_MAX = 2_000;

/** What is wrong with a value; undefined: it fits. */
export type SchemaCheck = (value: Json) => string | undefined;

/** Errors: the schema cannot be compiled. */
export async function schemaCheck(schema: Json): Promise<SchemaCheck> {
  const { AjvJsonSchemaValidator } = await loadValidator();
  // A name of its own would be known to the next schema that has the same one.
  const { $id: _, ...own } = schema as { readonly [keyword: string]: Json };
  const validate = new AjvJsonSchemaValidator().getValidator(own as never);
  return (value) => {
    try {
      const result = validate(value);
      return result.valid ? undefined : told(result.errorMessage ?? 'it does not fit');
    } catch (error) {
      return told(`its check failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
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
