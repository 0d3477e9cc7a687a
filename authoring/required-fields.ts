/**
 * JSON Schema says that a field is required whether or not it says anything else of that field; a parser made of the schema
 * looks only at fields that are declared. Pure.
 */
import { ownValue, type Json } from '../core/json/json.js';

type JsonRecord = { readonly [key: string]: Json };

/** The same schema, at each place with a declaration for every field that is required there. */
export function withRequiredFields(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((one: Json) => withRequiredFields(one));
  const all = Object.fromEntries(
    Object.entries(schema as JsonRecord).map(([key, value]) => [
      key,
      isData(key) ? value : withRequiredFields(value),
    ]),
  );
  const { required } = all;
  if (!Array.isArray(required) || ownValue<unknown>(all, 'type') !== 'object') return all;
  const properties = (all['properties'] ?? {}) as JsonRecord;
  const missing = required.filter(
    (name): name is string => typeof name === 'string' && !Object.hasOwn(properties, name),
  );
  if (missing.length === 0) return all;
  const added = Object.fromEntries(missing.map((name) => [name, {}]));
  return { ...all, properties: { ...properties, ...added } };
}

/** What stands under it is a value, and no schema. */
function isData(key: string): boolean {
  return key === 'const' || key === 'enum' || key === 'default' || key === 'examples';
}
