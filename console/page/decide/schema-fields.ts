/**
 * The fields of a form, made from the JSON Schema of a tool's arguments and filled with the present ones. What the
 * schema says in a way that no field fits is edited as JSON. Whether the arguments fit is decided by the run, not
 * here. Pure.
 */
import { someOfChoices, type NamedChoice } from '../../../pure/form-choices.js';
import type { Json, Schema } from '../data/api-types.js';
import { isBlob } from '../parts/json-value.js';

interface FieldBase {
  /** Unique within its form. */
  readonly id: string;
  readonly name: string;
  /** Dots lead into objects; empty: the whole. */
  readonly path: string;
  readonly isNeeded: boolean;
  /** There is no value now. */
  readonly isAbsent: boolean;
  readonly help?: string;
}

export type Field = FieldBase &
  (
    | { readonly kind: 'text'; readonly given: string; readonly isLong: boolean }
    | { readonly kind: 'number'; readonly given: string; readonly isWhole: boolean }
    | { readonly kind: 'flag'; readonly given: boolean }
    | { readonly kind: 'choice'; readonly given: number; readonly choices: Choices }
    | {
        readonly kind: 'list';
        /** Places of the choices that are ticked. */
        readonly given: readonly number[];
        readonly choices: readonly NamedChoice[];
      }
    | { readonly kind: 'json'; readonly given: string }
    | { readonly kind: 'object'; readonly fields: readonly Field[] }
  );

/** Undefined: not given. */
type Choices = readonly (Json | undefined)[];

interface Wanted {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly schema: Schema;
  readonly value: Json | undefined;
  readonly isNeeded: boolean;
  readonly depth: number;
}

const DEPTH_MAX = 4;
const LONG_TEXT = 80;
const LONG_LIMIT = 400;
const CHOICES_MAX = 100;

/** Without a schema: as the value itself is. */
export function fieldsOf(schema: Schema | undefined, value: Json | undefined): Field {
  const known = schema?.properties === undefined ? schemaOf(value ?? {}) : schema;
  const shape = { ...known, type: 'object' };
  const whole = { id: 'field', name: '', path: '', isNeeded: true, depth: 0 };
  return objectField({ ...whole, schema: shape, value });
}

/** A schema that this value fits. */
function schemaOf(value: Json): Schema {
  if (typeof value === 'string') return { type: 'string' };
  if (typeof value === 'number') return { type: 'number' };
  if (typeof value === 'boolean') return { type: 'boolean' };
  if (!isPlainObject(value)) return {};
  const properties = Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, schemaOf(part)]),
  );
  return { type: 'object', properties, required: Object.keys(value) };
}

function isPlainObject(value: Json): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isBlob(value);
}

function fieldOf(wanted: Wanted): Field {
  const { schema, value, depth } = wanted;
  if (schema.enum !== undefined) return choiceField(wanted, schema.enum);
  const list = listField(wanted);
  if (list !== undefined) return list;
  const fits = (type: string): boolean => value === undefined || typeof value === type;
  if (schema.type === 'string' && fits('string')) return textField(wanted);
  if ((schema.type === 'number' || schema.type === 'integer') && fits('number')) {
    const given = typeof value === 'number' ? String(value) : '';
    return { ...baseOf(wanted), kind: 'number', given, isWhole: schema.type === 'integer' };
  }
  if (schema.type === 'boolean' && fits('boolean')) {
    return { ...baseOf(wanted), kind: 'flag', given: value === true };
  }
  const isShape = schema.type === 'object' && schema.properties !== undefined;
  if (isShape && depth < DEPTH_MAX && isPlainObject(value ?? {})) return objectField(wanted);
  const given = value === undefined ? '' : JSON.stringify(value, null, 2);
  return { ...baseOf(wanted), kind: 'json', given };
}

function baseOf({ id, name, path, schema, value, isNeeded }: Wanted): FieldBase {
  const help = schema.description;
  return {
    id,
    name,
    path,
    isNeeded,
    isAbsent: value === undefined,
    ...(help !== undefined && { help }),
  };
}

function objectField(wanted: Wanted): Field {
  const { id, path, schema, value = {}, depth } = wanted;
  const present = isPlainObject(value) ? value : {};
  const { properties = {}, required = [] } = schema;
  const names = [...new Set([...Object.keys(properties), ...Object.keys(present)])];
  const fields = names.map((name, place) => {
    const own = Object.hasOwn(present, name) ? present[name] : undefined;
    const inside = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return fieldOf({
      id: `${id}-${place}`,
      name,
      path: path === '' ? name : `${path}.${name}`,
      schema: inside ?? schemaOf(own ?? null),
      value: own,
      isNeeded: required.includes(name),
      depth: depth + 1,
    });
  });
  return { ...baseOf(wanted), kind: 'object', fields };
}

function textField(wanted: Wanted): Field {
  const { schema, value } = wanted;
  const given = typeof value === 'string' ? value : '';
  const isLong =
    given.length > LONG_TEXT || given.includes('\n') || (schema.maxLength ?? 0) > LONG_LIMIT;
  return { ...baseOf(wanted), kind: 'text', given, isLong };
}

/** Undefined: no list of choices, or a value that they do not have. */
function listField(wanted: Wanted): Field | undefined {
  const choices = someOfChoices(wanted.schema as unknown as Json);
  if (choices === undefined || choices.length > CHOICES_MAX) return undefined;
  const { value = [] } = wanted;
  if (!Array.isArray(value)) return undefined;
  const given = value.map((one) => choices.findIndex((choice) => choice.value === one));
  return given.includes(-1) ? undefined : { ...baseOf(wanted), kind: 'list', given, choices };
}

function choiceField(wanted: Wanted, named: readonly Json[]): Field {
  const choices = [...(wanted.isNeeded ? [] : [undefined]), ...named];
  const given = Math.max(0, choices.indexOf(wanted.value));
  return { ...baseOf(wanted), kind: 'choice', given, choices };
}
