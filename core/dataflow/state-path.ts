/**
 * Paths of the dataflow state (G4): dotted names after `state.`, such as `state.order.total`.
 * Invariants: a parsed path has no `state.` prefix and can be a key of a plain object; two paths conflict
 * when one is the other or lies above it.
 */
export const STATE_PREFIX = 'state.';
/** Characters of a path with its prefix. */
const PATH_CHARS_MAX = 128;
const PATH = /^[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*$/;
const FORBIDDEN: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** `a.b` of `state.a.b`; undefined for what is no path of the state. */
export function parsePath(text: string): string | undefined {
  if (text.length > PATH_CHARS_MAX || !text.startsWith(STATE_PREFIX)) return undefined;
  const path = text.slice(STATE_PREFIX.length);
  if (!PATH.test(path)) return undefined;
  return path.split('.').some((name) => FORBIDDEN.includes(name)) ? undefined : path;
}

/** What earlier runs of the session wrote can be named without `state.` (G10). */
export const REFERENCE_PREFIXES = [STATE_PREFIX, 'previous.'] as const;

/** A path that arguments refer to: `state.order`, or `previous.order` for `state.previous.order`. */
export function parseReference(text: string): string | undefined {
  return parsePath(text.startsWith(STATE_PREFIX) ? text : `${STATE_PREFIX}${text}`);
}

/** A value at `written` holds what `wanted` names: it is the same place or lies above it. */
export function covers(written: string, wanted: string): boolean {
  return wanted === written || wanted.startsWith(`${written}.`);
}

/** Both cannot be written: they are the same place, or one lies inside the other. */
export function overlaps(a: string, b: string): boolean {
  return covers(a, b) || covers(b, a);
}

/** The names that lead from `written` to `wanted`, which it covers. */
export function namesBelow(written: string, wanted: string): readonly string[] {
  return wanted === written ? [] : wanted.slice(written.length + 1).split('.');
}
