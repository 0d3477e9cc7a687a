/**
 * Arguments without what their JSON Schema does not declare: only fields that were checked reach the executor.
 * Invariants: an object of which the schema names no field, or says anything of further ones, stays as it is, and so does
 * what a combination of schemas describes; doing it twice changes nothing.
 */
import { ownValue, type Json } from '../core/json/json.js';

type Part = { readonly [keyword: string]: unknown };

/** Words by which a schema says something of fields that it does not name, or leaves it to other schemas. */
const OPEN_WORDS = [
  'additionalProperties',
  'unevaluatedProperties',
  'patternProperties',
  'propertyNames',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'dependentSchemas',
  '$ref',
  '$dynamicRef',
];

export function declaredOnly(schema: unknown, value: Json): Json {
  if (!isPart(schema) || typeof value !== 'object' || value === null) return value;
  const isOpen = OPEN_WORDS.some((word) => Object.hasOwn(schema, word));
  if (Array.isArray(value)) {
    const { items } = schema;
    return isOpen ? value : value.map((one: Json) => declaredOnly(items, one));
  }
  const { properties } = schema;
  if (!isPart(properties) || isOpen) return value;
  const fields = Object.entries(value as { readonly [name: string]: Json });
  return Object.fromEntries(
    fields
      .filter(([name]) => Object.hasOwn(properties, name))
      .map(([name, field]) => [name, declaredOnly(ownValue(properties, name), field)]),
  );
}

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
