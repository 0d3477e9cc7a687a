/**
 * Whether a text is the canonical form (RFC 8785) of what it says.
 * Invariant: what the engine's own writer is trusted with, `canonicalJson` would write in the same way.
 */
import { canonicalJson, type Json } from '../../core/json/json.js';

/** Deeper values, which hardly any bundle has, are written by `canonicalJson`, which refuses what is too deep for it. */
const DEPTH_MAX = 64;

/** `value`: what `JSON.parse` has made of the text. Errors: RangeError for what is nested deeper than the call stack. */
export function isCanonicalForm(value: Json, form: string): boolean {
  // The engine writes names as they stand, many times as fast.
  if (isInOrder(value, DEPTH_MAX) && JSON.stringify(value) === form) return true;
  return canonicalJson(value) === form;
}

/** Names of all objects in it stand in the order of the canonical form. */
function isInOrder(value: Json, depthMax: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depthMax === 0) return false;
  if (Array.isArray(value)) return value.every((one) => isInOrder(one as Json, depthMax - 1));
  const parts = value as { readonly [name: string]: Json };
  let before: string | undefined;
  for (const name in parts) {
    if (before !== undefined && name <= before) return false;
    if (!isInOrder(parts[name]!, depthMax - 1)) return false;
    before = name;
  }
  return true;
}
