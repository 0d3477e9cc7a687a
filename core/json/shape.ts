/** Shapes that messages from outside are made of: own properties, bounded texts, small JSON. */
import { SHAPE_DEPTH_MAX, depthOf } from './json-depth.js';

export type Parsed<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

export type Fields = { readonly [key: string]: unknown };

export function isRecord(raw: unknown): raw is Fields {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw);
}

export function isText(value: unknown, max: number): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= max;
}

/** No text of a JSON value, names of fields included, has half of a surrogate pair: such a text has no form in UTF-8. */
export function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return !/\p{Surrogate}/u.test(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, part]) => isWellFormed(name) && isWellFormed(part));
}

export function isSmallJson(value: unknown, charsMax: number): boolean {
  if (depthOf(value) > SHAPE_DEPTH_MAX) return false;
  const text = JSON.stringify(value) as string | undefined;
  return text !== undefined && text.length <= charsMax;
}

export function isPositiveUpTo(value: unknown, max: number): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= max;
}
