/**
 * The arguments of an action in the order in which people read them: amounts first, the largest first, then the
 * others as the schema of the tool lists them. Names of arguments decide about this order and about nothing else.
 */
import type { Json } from '../core/json/json.js';
import { compareDecimals, decimalOf, type Decimal } from './decimal.js';

export interface Argument {
  /** Dots lead into objects. */
  readonly path: string;
  readonly value: Json;
}

const AMOUNT = /amount|price|total|sum$|cents$|value$|budget$/i;
const DEPTH_MAX = 3;
const AMOUNTS_MAX = 20;

/** `schema`: JSON Schema of the arguments, where it is known. */
export function argumentsInOrder(args: Json, schema?: unknown): readonly Argument[] {
  if (!isObject(args)) return [];
  const amounts = amountsIn(args, '', DEPTH_MAX)
    .sort((one, other) => compareDecimals(size(other.number), size(one.number)))
    .slice(0, AMOUNTS_MAX)
    .map(({ path, value }) => ({ path, value }));
  const first = new Set(amounts.map(({ path }) => path));
  const listed = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
  const names = new Set([...Object.keys(listed), ...Object.keys(args)]);
  const others = [...names]
    .filter((name) => Object.hasOwn(args, name) && !first.has(name))
    .map((name) => ({ path: name, value: args[name] ?? null }));
  return [...amounts, ...others];
}

interface Amount extends Argument {
  readonly number: Decimal;
}

function amountsIn(value: JsonObject, within: string, depth: number): Amount[] {
  return Object.entries(value).flatMap(([name, part]) => {
    const path = within === '' ? name : `${within}.${name}`;
    if (isObject(part)) return depth > 1 ? amountsIn(part, path, depth - 1) : [];
    const number = AMOUNT.test(name) ? decimalOf(part) : undefined;
    return number === undefined ? [] : [{ path, value: part, number }];
  });
}

function size({ units, scale }: Decimal): Decimal {
  return { units: units < 0n ? -units : units, scale };
}

type JsonObject = { readonly [name: string]: Json };

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
