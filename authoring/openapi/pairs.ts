/**
 * Names and values of a query or a form. Pure.
 * Invariant: a value writes the names of its own argument alone, and no item or key of it reads as two.
 */
import { ownValue, type Json } from '../../core/json/json.js';
import { ToolError } from '../tool-error.js';
import { isPart, type Part } from './document.js';
import type { Body, Field, Style } from './plan.js';

const SEPARATORS = { plain: ',', space: '%20', pipe: '%7C' } as const;
const DEPTH_MAX = 8;

export type Fields = { readonly [name: string]: Json };
/** Encoded. */
type Pair = readonly [string, string];

interface Written {
  readonly argument: string;
  readonly name: string;
  /** Undefined: as it is, each item by itself, and objects as JSON. */
  readonly style: Style | undefined;
  readonly schema: Part;
  readonly value: Json | undefined;
}

/** Errors: ToolError. */
export function queryOf(fields: readonly Field[], input: Fields): string {
  const written = fields.map((field) => {
    const { argument, name, schema } = field;
    const value = ownValue(input, argument);
    // A model says null for what it leaves out; a query has no word for null.
    const isLeftOut = value === null && field.style !== 'json';
    return { argument, name, style: field, schema, value: isLeftOut ? undefined : value };
  });
  return joined(
    written,
    fields.map(({ name }) => name),
  );
}

/** Errors: ToolError. */
export function formOf({ argument, schema, styles }: Body, values: Fields): string {
  const { properties = {} } = schema;
  const named = isPart(properties) ? properties : {};
  const written = Object.entries(values).map(([name, value]) => {
    const own = ownValue(named, name);
    return { argument, name, style: styles.get(name), schema: isPart(own) ? own : {}, value };
  });
  return joined(written, [...Object.keys(named), ...Object.keys(values)]);
}

function joined(written: readonly Written[], names: readonly string[]): string {
  const pairs = written.flatMap((one) => {
    const own = pairsOf(one);
    for (const [name] of own) checkName(one, name, names);
    return own;
  });
  return pairs.map(([name, value]) => `${encoded(name)}=${value}`).join('&');
}

/** Readers of queries tell neither capitals nor what follows a bracket apart. */
function checkName({ argument, name: own }: Written, name: string, names: readonly string[]): void {
  if (name === own) return;
  const isTaken = names.some(
    (other) =>
      other !== own &&
      (other.toLowerCase() === name.toLowerCase() ||
        (rootOf(other) === rootOf(name) && rootOf(name) !== rootOf(own))),
  );
  if (isTaken) throw unsendable(`The argument ${argument} has a field that is another parameter.`);
}

function rootOf(name: string): string {
  return name.replace(/\[.*$/s, '').toLowerCase();
}

function pairsOf(written: Written): readonly Pair[] {
  const { argument, name, style, value } = written;
  if (value === undefined) return [];
  if (style === undefined) return listOf(value).map((one) => [name, encoded(textOf(one))]);
  if (style.style === 'json') return [[name, encoded(JSON.stringify(value))]];
  if (style.style === 'deep') return deepPairs(written, value, [name]);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return objectPairs(written, Object.entries(value as Fields));
  }
  const texts = listOf(value).map((one) => encoded(scalar(argument, one)));
  if (style.explode || !Array.isArray(value)) return texts.map((text) => [name, text]);
  return texts.length === 0 ? [] : [[name, texts.join(SEPARATORS[style.style])]];
}

function objectPairs(
  { argument, name, style, schema }: Written,
  entries: readonly (readonly [string, Json])[],
): readonly Pair[] {
  const pairs = entries.map(([key, one]) => [key, encoded(scalar(argument, one))] as const);
  if (style?.explode !== true) {
    const parts = pairs.flatMap(([key, text]) => [encoded(key), text]);
    return parts.length === 0 ? [] : [[name, parts.join(',')]];
  }
  const { properties = {}, additionalProperties = false } = schema;
  const unknown = pairs.find(([key]) => ownValue(properties as Part, key) === undefined);
  if (unknown === undefined || additionalProperties !== false) return pairs;
  throw unsendable(`The argument ${argument} has a field that its schema does not name.`);
}

/** `filter[age]=3`, and so on within. */
function deepPairs(written: Written, value: Json, names: readonly string[]): readonly Pair[] {
  const { argument } = written;
  const [first = '', ...rest] = names;
  if (names.length > DEPTH_MAX) throw unsendable(`The argument ${argument} nests too deep.`);
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, one]) => {
      if (!/[[\]]/.test(key)) return deepPairs(written, one as Json, [...names, key]);
      throw unsendable(`The argument ${argument} has a field with a bracket in its name.`);
    });
  }
  if (rest.length === 0) throw unsendable(`The argument ${argument} is no object.`);
  const name = `${first}${rest.map((key) => `[${key}]`).join('')}`;
  return [[name, encoded(scalar(argument, value))]];
}

function textOf(value: Json): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export function listOf(value: Json | undefined): readonly Json[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as readonly Json[]) : [value];
}

export function scalar(argument: string, value: Json): string {
  if (value === null || typeof value === 'object') {
    throw unsendable(`The argument ${argument} is no plain value.`);
  }
  return String(value);
}

export function encoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    throw unsendable('An argument is no text that can be sent.');
  }
}

export function unsendable(why: string): ToolError {
  return new ToolError(`The request cannot be sent. ${why}`);
}
