/** Whether a schema names all the arguments that a call can have. Pure. */
import type { Schema } from '../data/api-types.js';

/** What a schema can say of an object without bringing in another argument; a word not here may. */
const HARMLESS = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  '$defs',
]);

/**
 * Without `additionalProperties` it is a plain `z.object`: that drops what it does not name before anybody is asked
 * (authoring/input-schema.ts), and no call starts with arguments that its schema would change
 * (activities/tool/tool-call.ts).
 */
export function listsAllArguments(schema: Schema | undefined): boolean {
  if (schema?.type !== 'object' || schema.properties === undefined) return false;
  const isClosed =
    schema.additionalProperties === undefined || schema.additionalProperties === false;
  return isClosed && Object.keys(schema).every((word) => HARMLESS.has(word));
}
