/**
 * References of arguments to the dataflow state: `{"$from": "state.<path>"}` or the text `†state.<path>`,
 * at any depth (G1); `previous.<path>` names what earlier runs of the session wrote (G10).
 * Invariants: a value arrives with its type, a number as a number and a text as a text; what a reference
 * brings in is never searched for references.
 */
import { holds, type Condition } from '../json/condition.js';
import { canonicalJson, ownValue, type Json } from '../json/json.js';
import { depthOf, SHAPE_DEPTH_MAX } from '../json/json-depth.js';

import { covers, namesBelow, parseReference, REFERENCE_PREFIXES } from './state-path.js';
import type { State } from '../state/dataflow.js';

/** Different paths that one call may refer to. */
export const REFERENCES_MAX = 32;
const MARK = '†';

export type FoundReferences =
  | { readonly ok: true; readonly paths: readonly string[] }
  | { readonly ok: false; readonly defect: string };

/** All paths that the arguments refer to, each once, in the order of their first use. */
export function referencesIn(args: Json): FoundReferences {
  const texts: string[] = [];
  rewrite(args, (text) => {
    texts.push(text);
    return null;
  });
  const bad = texts.find((text) => referenceOf(text) === undefined);
  if (bad !== undefined) {
    return { ok: false, defect: `${JSON.stringify(bad.slice(0, 80))} is no path of the state` };
  }
  const paths = [...new Set(texts.flatMap((text) => referenceOf(text) ?? []))];
  return paths.length > REFERENCES_MAX
    ? { ok: false, defect: `they refer to more than ${REFERENCES_MAX} paths` }
    : { ok: true, paths };
}

/** The place of the state that holds what `path` names, or undefined. */
export function placeOf(state: { readonly [path: string]: unknown }, path: string) {
  const names = path.split('.');
  const above = names.map((_, index) => names.slice(0, index + 1).join('.'));
  return above.find((place) => ownValue(state, place) !== undefined);
}

/** Values of the state by their place. */
export type StateValues = { readonly [place: string]: Json };

/** The value behind a result's whole text. */
export function valueOf(text: string, { json }: { readonly json?: true }): Json {
  const parsed = json ? parsedJson(text) : undefined;
  return parsed === undefined ? text : parsed;
}

/** What a path holds, or undefined. */
export function valueAt(values: StateValues, path: string): Json | undefined {
  const place = placeOf(values, path);
  const found = place === undefined ? undefined : ownValue(values, place);
  if (place === undefined || found === undefined) return undefined;
  const names = namesBelow(place, path);
  // A text has no fields of its own, but many tools answer with a text that is JSON.
  let value = names.length > 0 && typeof found === 'string' ? parsedJson(found) : found;
  for (const name of names) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    value = ownValue(value as { readonly [key: string]: Json }, name);
  }
  return value;
}

/** Undefined for what is no JSON, or nests so deeply that only its text can be used. */
function parsedJson(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return depthOf(value) > SHAPE_DEPTH_MAX ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Without anything else it asks whether the path holds something. */
export function holdsIn(values: StateValues, condition: Condition): boolean {
  const value = valueAt(values, condition.path);
  const subject: { readonly [name: string]: Json } = value === undefined ? {} : { value };
  return holds({ exists: true, ...condition, path: 'value' }, subject);
}

/** The arguments with the values of their references. */
export function resolveReferences(args: Json, values: StateValues): Json {
  return rewrite(args, (text) => valueAt(values, referenceOf(text) ?? '') ?? null);
}

/** The first of these paths that holds nothing. */
export function missingFrom(values: StateValues, paths: readonly string[]): string | undefined {
  return paths.find((path) => valueAt(values, path) === undefined);
}

/** Places of the state that these paths need, with their values. */
export function valuesFor(state: State, paths: readonly string[]): State {
  const entries = Object.entries(state).filter(([place]) =>
    paths.some((path) => covers(place, path)),
  );
  return Object.fromEntries(entries);
}

/** Without one of the prefixes it would be any text. */
function referenceOf(text: string): string | undefined {
  return REFERENCE_PREFIXES.some((prefix) => text.startsWith(prefix))
    ? parseReference(text)
    : undefined;
}

/** A copy in which every reference is what `replace` makes of its text. Depth is limited by the activity. */
function rewrite(value: Json, replace: (text: string) => Json): Json {
  if (typeof value === 'string') {
    const isReference = REFERENCE_PREFIXES.some((prefix) => value.startsWith(MARK + prefix));
    return isReference ? replace(value.slice(MARK.length)) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => rewrite(item, replace));
  const entries = Object.entries(value as { readonly [key: string]: Json });
  const [first] = entries;
  if (entries.length === 1 && first?.[0] === '$from') {
    return replace(typeof first[1] === 'string' ? first[1] : canonicalJson(first[1]));
  }
  return Object.fromEntries(entries.map(([key, part]) => [key, rewrite(part, replace)]));
}
