/**
 * The form of a server's question, and its bounds before an answer is sent. Whether the answer fits is decided by the
 * desk; this says it at the field. Pure.
 */
import { oneOfChoices, type NamedChoice } from '../../../pure/form-choices.js';
import type { Json, Schema } from '../data/api-types.js';
import { plural } from '../parts/format.js';
import { inertText } from '../parts/inert-text.js';
import { readField, type Drafts } from './read-fields.js';
import { fieldsOf, type Field } from './schema-fields.js';

const CHOICES_MAX = 12;

export type ReadAnswer =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly fault: string; readonly fieldId: string };

/** The fields, filled with what the server gives as defaults. */
export function formFieldsOf(schema: unknown): Field {
  const known = schemaIn(schema);
  const defaults = Object.entries(known.properties ?? {}).flatMap(([name, part]) => {
    const { default: value } = part as { readonly default?: Json };
    return value === undefined ? [] : [[name, value] as const];
  });
  const parts = Object.entries(known.properties ?? {}).map(([name, part]) => {
    const titled = oneOfChoices(part as unknown as Json)?.map(({ value }) => value) ?? [];
    return [name, titled.length === 0 ? part : { ...part, enum: titled }] as const;
  });
  const shape = { ...known, properties: Object.fromEntries(parts) };
  return fieldsOf(shape, Object.fromEntries(defaults));
}

export interface NamedChoices {
  readonly name: string;
  readonly named: readonly NamedChoice[];
}

/** Of a form that is one choice among texts that can be told apart; undefined: any other form. */
export function choicesOf(schema: unknown): NamedChoices | undefined {
  const [only, ...others] = Object.entries(schemaIn(schema).properties ?? {});
  if (only === undefined || others.length > 0) return undefined;
  const [name, part] = only;
  const named = oneOfChoices(part as unknown as Json) ?? [];
  const labels = new Set(named.map(({ label }) => inertText(label)));
  const isClear = named.length > 0 && named.length <= CHOICES_MAX && labels.size === named.length;
  return isClear ? { name, named } : undefined;
}

export function readAnswer(schema: unknown, field: Field, drafts: Drafts): ReadAnswer {
  const read = readField(field, drafts);
  if (!read.ok) return read;
  const value = (read.value ?? {}) as { readonly [name: string]: Json };
  const { properties = {} } = schemaIn(schema);
  for (const inner of field.kind === 'object' ? field.fields : []) {
    const part = Object.hasOwn(properties, inner.name) ? properties[inner.name] : undefined;
    const own = Object.hasOwn(value, inner.name) ? value[inner.name] : undefined;
    const fault = faultOf(part ?? {}, own, inner.isNeeded);
    if (fault === undefined) continue;
    return { ok: false, fault: `${inertText(inner.name)} ${fault}.`, fieldId: inner.id };
  }
  return { ok: true, value };
}

function faultOf(part: Schema, value: Json | undefined, isNeeded: boolean): string | undefined {
  const { minLength = 0, maxLength = Infinity, minimum = -Infinity, maximum = Infinity } = part;
  if (value === undefined || (value === '' && minLength > 0)) {
    return isNeeded || value === '' ? 'is needed' : undefined;
  }
  if (typeof value === 'string') {
    // JSON Schema counts characters, not halves of them.
    const chars = Array.from(value).length;
    if (chars < minLength) return `has fewer than ${plural(minLength, 'character')}`;
    return chars > maxLength ? `has more than ${plural(maxLength, 'character')}` : undefined;
  }
  if (Array.isArray(value)) return faultOfList(part, value.length);
  if (typeof value !== 'number') return undefined;
  if (value < minimum) return `must be at least ${minimum}`;
  return value > maximum ? `must be at most ${maximum}` : undefined;
}

function faultOfList(part: Schema, count: number): string | undefined {
  const { minItems = 0, maxItems = Infinity } = part;
  if (count < minItems) return `needs at least ${minItems} of its choices`;
  return count > maxItems ? `takes at most ${maxItems} of its choices` : undefined;
}

function schemaIn(schema: unknown): Schema {
  return typeof schema === 'object' && schema !== null ? (schema as Schema) : {};
}
