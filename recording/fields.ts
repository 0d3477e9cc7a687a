/** What differs between two entries of the same type, by the names of its fields. */
import { canonicalJson, type Json } from '../core/json/json.js';
import { isRecord } from '../core/json/shape.js';
import type { PathEntry } from './path.js';
import { comparedAction, type DiffOptions } from './sketch.js';

/** Of what is no object, `action` or `words`; only what is compared. */
export function fieldsThatDiffer(
  a: PathEntry,
  b: PathEntry,
  { actions }: DiffOptions,
): readonly string[] {
  const named = namesOf('action', comparedAction(a), comparedAction(b));
  return actions ? named : [...named, ...namesOf('words', a.words, b.words)];
}

function namesOf(part: 'action' | 'words', a: Json, b: Json): readonly string[] {
  if (isSame(a, b)) return [];
  if (!isRecord(a) || !isRecord(b)) return [part];
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].filter((name) => !isSame(a[name] ?? null, b[name] ?? null));
}

function isSame(a: unknown, b: unknown): boolean {
  return canonicalJson(a as Json) === canonicalJson(b as Json);
}
