/**
 * A schema of an OpenAPI document as the JSON Schema of a tool's input: references are put in their place, a schema that holds
 * itself is unfolded once, and what only the service can check is told in words.
 * Invariants: the work is bounded, however often parts refer to each other; no expression of the document is ever run.
 */
import type { Json } from '../../core/json/json.js';
import { isPart, own, target, unfit, type Part } from './document.js';

const PARTS_MAX = 4_000;
const DEPTH_MAX = 24;
const DESCRIPTION_CHARS_MAX = 600;
const NOTE_CHARS_MAX = 120;
const NUMBERS = [
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'multipleOf',
] as const;
const NOTES = [
  ['format', 'Format'],
  ['pattern', 'Pattern'],
  ['default', 'Default'],
] as const;
const MERGED = ['type', 'properties', 'required', 'description', 'additionalProperties'];

interface Walk {
  readonly document: Part;
  readonly at: string;
  /** How many parts there may still be. */
  readonly budget: { left: number };
  /** References that are being unfolded. */
  readonly open: readonly string[];
  readonly depth: number;
}

/** What is in schemas of requests. Errors: InvalidTool. */
export function schemaOf(document: Part, schema: Json | undefined, at: string): Part {
  const walk = { document, at, budget: { left: PARTS_MAX }, open: [], depth: 0 };
  return schema === undefined ? {} : converted(schema, walk);
}

function converted(schema: Json, given: Walk): Part {
  const { budget, at, document } = given;
  budget.left -= 1;
  if (budget.left < 0) throw unfit(`the schema of ${at} has more than ${PARTS_MAX} parts`);
  // A boolean says nothing that a model could keep to.
  if (!isPart(schema) || given.depth > DEPTH_MAX) return {};
  const walk = { ...given, depth: given.depth + 1 };
  const ref = own(schema, '$ref');
  if (ref === undefined) return ofPart(schema, walk);
  if (typeof ref === 'string' && walk.open.includes(ref)) {
    return { description: 'As the part above that holds it.' };
  }
  const named = converted(target(document, ref, at), {
    ...walk,
    open: typeof ref === 'string' ? [...walk.open, ref] : walk.open,
  });
  const description = own(schema, 'description');
  return typeof description === 'string' ? { ...named, ...described(schema) } : named;
}

function ofPart(schema: Part, walk: Walk): Part {
  const plain = {
    ...described(schema),
    ...typed(schema),
    ...numbers(schema),
    ...fields(schema, walk),
    ...(schema['items'] !== undefined && { items: converted(schema['items'], walk) }),
    ...choices(schema, walk),
  };
  const parts = listOf(schema['allOf']).map((one) => converted(one, walk));
  const whole = parts.length === 0 ? plain : merged(plain, parts);
  return schema['nullable'] === true ? orNull(whole) : whole;
}

/** With more words before its own. */
export function toldWith(schema: Part, text: string): Part {
  const own = typeof schema['description'] === 'string' ? ` ${schema['description']}` : '';
  const description = `${text.slice(0, DESCRIPTION_CHARS_MAX)}${own}`;
  return { ...schema, description: description.slice(0, DESCRIPTION_CHARS_MAX) };
}

function described(schema: Part): Part {
  const { description } = schema;
  const said = typeof description === 'string' ? [description.slice(0, DESCRIPTION_CHARS_MAX)] : [];
  const notes = NOTES.flatMap(([key, word]) => {
    const value = own(schema, key);
    if (value === undefined || typeof value === 'object') return [];
    return [`${word}: ${String(value).slice(0, NOTE_CHARS_MAX)}.`];
  });
  const distinct = schema['uniqueItems'] === true ? ['Each item stands once.'] : [];
  const text = [...said, ...notes, ...distinct].join(' ');
  return text === '' ? {} : { description: text };
}

function typed(schema: Part): Part {
  const { type, enum: values, const: value } = schema;
  const isKnown = typeof type === 'string' || (Array.isArray(type) && type.length > 0);
  return {
    ...(isKnown && { type }),
    ...(Array.isArray(values) && values.length > 0 && { enum: values }),
    ...(value !== undefined && { const: value }),
  };
}

/** In 3.0 an exclusive bound is a word beside the bound. */
function numbers(schema: Part): Part {
  const { exclusiveMinimum, exclusiveMaximum } = schema;
  const kept = NUMBERS.flatMap((key) => {
    const value = own(schema, key);
    const isMoved =
      (key === 'minimum' && exclusiveMinimum === true) ||
      (key === 'maximum' && exclusiveMaximum === true);
    return typeof value === 'number' && !isMoved ? [[key, value] as const] : [];
  });
  const low = exclusiveMinimum === true ? schema['minimum'] : exclusiveMinimum;
  const high = exclusiveMaximum === true ? schema['maximum'] : exclusiveMaximum;
  return {
    ...Object.fromEntries(kept),
    ...(typeof low === 'number' && { exclusiveMinimum: low }),
    ...(typeof high === 'number' && { exclusiveMaximum: high }),
  };
}

/** Without fields that only the service writes; an object that has such fields takes none that it does not name. */
function fields(schema: Part, walk: Walk): Part {
  const { properties, required, additionalProperties: more, type } = schema;
  const named = isPart(properties) ? Object.entries(properties) : [];
  const written = named.filter(([, one]) => !isReadOnly(one, walk));
  const hidden = named.length - written.length;
  const needed = listOf(required).filter(
    (name) => typeof name === 'string' && (hidden === 0 || isIn(written, name)),
  );
  return {
    ...(named.length > 0 && {
      ...(type === undefined && { type: 'object' }),
      properties: Object.fromEntries(written.map(([name, one]) => [name, converted(one, walk)])),
    }),
    ...(needed.length > 0 && { required: needed }),
    ...(typeof more === 'boolean' && (hidden === 0 || !more) && { additionalProperties: more }),
    ...(isPart(more) && hidden === 0 && { additionalProperties: converted(more, walk) }),
  };
}

function isIn(written: readonly (readonly [string, Json])[], name: Json): boolean {
  return written.some(([one]) => one === name);
}

function isReadOnly(schema: Json, { document, at }: Walk): boolean {
  const ref = own(schema, '$ref');
  const named = ref === undefined ? schema : target(document, ref, at);
  return own(named, 'readOnly') === true || own(schema, 'readOnly') === true;
}

function choices(schema: Part, walk: Walk): Part {
  const options = [...listOf(schema['anyOf']), ...listOf(schema['oneOf'])];
  return options.length === 0 ? {} : { anyOf: options.map((one) => converted(one, walk)) };
}

/** Objects become one object: strict parts would refuse each other's fields. */
function merged(plain: Part, parts: readonly Part[]): Part {
  const all = [plain, ...parts].filter((one) => Object.keys(one).length > 0);
  const isObject = (one: Part): boolean =>
    Object.keys(one).every((key) => MERGED.includes(key)) && (one['type'] ?? 'object') === 'object';
  if (!all.every(isObject)) {
    const { description, ...rest } = plain;
    const every = Object.keys(rest).length > 0 ? [rest, ...parts] : parts;
    const told: Part = description === undefined ? {} : { description };
    return every.length === 1 ? { ...every[0], ...told } : { ...told, allOf: [...every] };
  }
  const required = all.flatMap((one) => listOf(one['required']));
  const [description] = all.flatMap((one) => one['description'] ?? []);
  const more = all
    .map((one) => one['additionalProperties'])
    .find((one) => isPart(one) || one === true);
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    ...(all.some((one) => one['properties'] !== undefined) && {
      properties: Object.assign({}, ...all.map((one) => one['properties'] ?? {})) as Part,
    }),
    ...(required.length > 0 && { required: [...new Set(required)] }),
    // Each strict part would refuse the fields of the others.
    ...(more !== undefined && { additionalProperties: more }),
  };
}

function orNull(schema: Part): Part {
  const { type, enum: values, ...rest } = schema;
  if (typeof type !== 'string' || schema['const'] !== undefined) {
    return { anyOf: [schema, { type: 'null' }] };
  }
  return {
    ...rest,
    type: [type, 'null'],
    ...(Array.isArray(values) && { enum: values.includes(null) ? values : [...values, null] }),
  };
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
