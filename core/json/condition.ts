/**
 * A condition on a JSON value: the one closed form in which policies, evidence and success criteria say
 * what must hold.
 * Invariants: deciding is pure; paths from outside never reach a prototype; what lies in the store cannot
 * be looked into and meets nothing but `exists: false`.
 */
import { canonicalJson, isBlobRef, ownValue, type Json } from './json.js';

/** All that is given must hold of the value at `path`. */
export interface Condition {
  /** Dotted names; lists cannot be addressed. */
  readonly path: string;
  readonly equals?: Json;
  readonly lte?: number;
  readonly gte?: number;
  readonly exists?: boolean;
}

export function holds(condition: Condition, subject: Json): boolean {
  const value = valueAt(subject, condition.path);
  if (condition.exists !== undefined && (value !== undefined) !== condition.exists) return false;
  if (condition.equals !== undefined && !isSame(value, condition.equals)) return false;
  if (condition.lte !== undefined && !(typeof value === 'number' && value <= condition.lte))
    return false;
  if (condition.gte !== undefined && !(typeof value === 'number' && value >= condition.gte))
    return false;
  return true;
}

/** Equal as JSON: the order of keys, which a model chooses freely, says nothing. */
function isSame(value: Json | undefined, wanted: Json): boolean {
  return value !== undefined && canonicalJson(value) === canonicalJson(wanted);
}

function valueAt(subject: Json, path: string): Json | undefined {
  let value: Json | undefined = subject;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || isBlobRef(value))
      return undefined;
    value = ownValue(value as { readonly [key: string]: Json }, key);
  }
  return value;
}
