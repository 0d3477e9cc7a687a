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
  const isOpen = openWordsOf(schema).length > 0;
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

/** Those that say less than what passes them. */
const open = new WeakSet<object>();

export function leaveOpen(schema: Json): void {
  if (isPart(schema)) open.add(schema);
}

/** Whether a value that has passed may have something at the path: no is certain, and what a schema leaves open is a yes. */
export function mayHave(schema: unknown, path: readonly string[]): boolean {
  return isOpenAt(schema, path, false);
}

/** `isWhole`: a part above says something of further fields, so nothing is taken out here. */
function isOpenAt(schema: unknown, [name, ...rest]: readonly string[], isWhole: boolean): boolean {
  if (name === undefined || !isPart(schema) || open.has(schema)) return true;
  const { properties, type, additionalProperties } = schema;
  const isClosed = type === 'object' && additionalProperties === false;
  const words = openWordsOf(schema).filter((word) => !isClosed || word !== 'additionalProperties');
  if (words.length > 0 || givenIn(schema).some(isPart)) return true;
  if (type !== undefined && ![type].flat().includes('object')) return false;
  if (!isPart(properties)) return !isClosed;
  return Object.hasOwn(properties, name)
    ? isOpenAt(properties[name], rest, isWhole || isClosed)
    : isWhole && !isClosed;
}

/** Whole values, which need not look like what else the schema says. */
function givenIn(schema: Part): readonly unknown[] {
  return [schema['const'], schema['default'], schema['enum']].flat();
}

function openWordsOf(schema: Part): readonly string[] {
  return OPEN_WORDS.filter((word) => Object.hasOwn(schema, word));
}

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
