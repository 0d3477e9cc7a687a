/**
 * The canonical form (RFC 8785) by the engine's own writer, many times as fast as `canonicalJson`.
 * Invariant: what that writer is trusted with, `canonicalJson` would write in the same way.
 */
import { canonicalJson, type Json } from '../../core/json/json.js';

/** Deeper values, which hardly any bundle has, are written by `canonicalJson`, which refuses what is too deep for it. */
const DEPTH_MAX = 64;

/** `value`: what `JSON.parse` has made of the text. Errors: RangeError for what is nested deeper than the call stack. */
export function isCanonicalForm(value: Json, form: string): boolean {
  // The engine writes names as they stand.
  if (inOrder(value, DEPTH_MAX) === value && JSON.stringify(value) === form) return true;
  return canonicalJson(value) === form;
}

/** As `canonicalJson` writes a value. Errors: its own. */
export function canonicalForm(value: Json): string {
  const ordered = inOrder(value, DEPTH_MAX);
  return ordered === undefined ? canonicalJson(value) : JSON.stringify(ordered);
}

/** The value, or one that differs in the order of names alone: that of the canonical form. Undefined: not to be had. */
function inOrder(value: Json, depthMax: number): Json | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (depthMax === 0) return undefined;
  return Array.isArray(value)
    ? listInOrder(value as readonly Json[], depthMax)
    : recordInOrder(value as { readonly [name: string]: Json }, depthMax);
}

function listInOrder(list: readonly Json[], depthMax: number): Json | undefined {
  let copy: Json[] | undefined;
  for (let index = 0; index < list.length; index += 1) {
    const inner = inOrder(list[index]!, depthMax - 1);
    if (inner === undefined) return undefined;
    if (inner !== list[index]) (copy ??= [...list])[index] = inner;
  }
  return copy ?? list;
}

function recordInOrder(
  parts: { readonly [name: string]: Json },
  depthMax: number,
): Json | undefined {
  let before: string | undefined;
  let isOrdered = true;
  let changed: Map<string, Json> | undefined;
  for (const name in parts) {
    if (before !== undefined && name <= before) isOrdered = false;
    before = name;
    const inner = inOrder(parts[name]!, depthMax - 1);
    if (inner === undefined) return undefined;
    if (inner !== parts[name]) (changed ??= new Map()).set(name, inner);
  }
  if (isOrdered && changed === undefined) return parts;
  const copy: { [name: string]: Json } = {};
  for (const name of Object.keys(parts).toSorted()) {
    // A number would come first wherever it is put, and this name is no name.
    if (FIRST_OR_NONE.test(name)) return undefined;
    copy[name] = changed?.get(name) ?? parts[name]!;
  }
  return copy;
}

const FIRST_OR_NONE = /^(?:\d|__proto__$)/;
