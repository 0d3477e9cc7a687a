/**
 * An argument without what its schema does not declare: only fields that were checked are sent. Pure.
 * Invariant: where any of the schemas that describe an object is open, fields that none of them names stay.
 */
import { ownValue, type Json } from '../../core/json/json.js';
import { isPart, type Part } from './document.js';

/** What says anything of the parts of a value. */
const NAMING = ['properties', 'additionalProperties', 'items'];

/** Of a schema that `schemaOf` gave. */
export function declaredOf(schema: Json | undefined, value: Json): Json {
  return sent(partsOf([schema]), value);
}

function sent(schemas: readonly Part[], value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = partsOf(schemas.filter((one) => fits(one, 'array')).map((one) => one['items']));
    return items.length === 0 ? value : value.map((one: Json) => sent(items, one));
  }
  const objects = schemas.filter((one) => fits(one, 'object'));
  const isOpen = objects.length === 0 || objects.some(isOpenObject);
  const fields = Object.entries(value as { readonly [name: string]: Json });
  return Object.fromEntries(
    fields.flatMap(([name, field]) => {
      const named = objects.flatMap(({ properties }) =>
        isPart(properties) ? (ownValue(properties, name) ?? []) : [],
      );
      const more = objects.map((one) => one['additionalProperties']).filter(isPart);
      if (named.length > 0) return [[name, sent(partsOf(named), field)] as const];
      if (more.length > 0) return [[name, sent(partsOf(more), field)] as const];
      return isOpen ? [[name, field] as const] : [];
    }),
  );
}

function isOpenObject({ properties, additionalProperties: more }: Part): boolean {
  return more === undefined ? !isPart(properties) : more !== false;
}

function fits({ type }: Part, wanted: string): boolean {
  return type === undefined || type === wanted || (Array.isArray(type) && type.includes(wanted));
}

/** The schemas and those that they are made of; one that only puts others together says nothing itself. */
function partsOf(schemas: readonly (Json | undefined)[]): readonly Part[] {
  const found: Part[] = [];
  const open = [...schemas];
  // The list grows meanwhile, at most by the parts of a schema.
  for (const schema of open) {
    if (!isPart(schema)) continue;
    const within = [schema['anyOf'], schema['allOf']].flatMap((list) =>
      Array.isArray(list) ? (list as readonly Json[]) : [],
    );
    open.push(...within);
    const isFrame = within.length > 0 || schema['required'] !== undefined;
    if (!isFrame || NAMING.some((word) => schema[word] !== undefined)) found.push(schema);
  }
  return found;
}
