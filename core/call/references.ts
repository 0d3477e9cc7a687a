/**
 * References of arguments to the dataflow state: `{"$from": "state.<path>"}` or the text `†state.<path>`,
 * at any depth (G1).
 * Invariants: what a reference brings in is never searched for references; results are texts, so a value
 * has up to two readings (its JSON and its text), and the tool's schema decides between them.
 */
import { canonicalJson } from '../digest.js';
import { ownValue, type BlobRef, type Json } from '../json.js';
import { depthOf, SHAPE_DEPTH_MAX } from '../json-depth.js';
import type { PolicyCondition } from '../policy.js';
import { covers, namesBelow, parsePath, STATE_PREFIX } from './state-path.js';

/** Different paths that one call may refer to. */
export const REFERENCES_MAX = 32;
const MARK = '†';
/** References of one call whose two readings are both tried; the others are read as JSON. */
const READINGS_BOTH_MAX = 4;

/** A value of the state: the whole text of a result, large ones by reference (C39). */
export type StateValue = { readonly text: string } | BlobRef;
export type State = { readonly [path: string]: StateValue };

/** What a call wants to hold before it runs; its path is without the prefix `state.`. */
export type Condition = PolicyCondition;

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
  const bad = texts.find((text) => parsePath(text) === undefined);
  if (bad !== undefined) {
    return { ok: false, defect: `${JSON.stringify(bad.slice(0, 80))} is no path of the state` };
  }
  const paths = [...new Set(texts.flatMap((text) => parsePath(text) ?? []))];
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

/** Texts of the state by their place. */
export type StateTexts = { readonly [place: string]: string };

/** What a path holds, as JSON first; empty when there is nothing. */
export function readingsOf(texts: StateTexts, path: string): readonly Json[] {
  const place = placeOf(texts, path);
  const text = place === undefined ? undefined : ownValue(texts, place);
  if (place === undefined || text === undefined) return [];
  const parsed = parsedJson(text);
  const names = namesBelow(place, path);
  if (names.length === 0) return parsed === undefined ? [text] : [parsed, text];
  let value = parsed;
  for (const name of names) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
    value = ownValue(value as { readonly [key: string]: Json }, name);
  }
  return value === undefined ? [] : [value];
}

/** The JSON of a result that is not a text; a tool that returned a text returned just that text. */
function parsedJson(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === 'string' || depthOf(value) > SHAPE_DEPTH_MAX ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Without anything else it asks whether the path holds something. */
export function holds(condition: Condition, texts: StateTexts): boolean {
  const { equals, lte, gte, exists = true } = condition;
  const readings = readingsOf(texts, condition.path);
  if (!exists || readings.length === 0) return !exists && readings.length === 0;
  return readings.some(
    (value) =>
      (equals === undefined || canonicalJson(value) === canonicalJson(equals)) &&
      (lte === undefined || (typeof value === 'number' && value <= lte)) &&
      (gte === undefined || (typeof value === 'number' && value >= gte)),
  );
}

/** The arguments with their references resolved, one after the other as readings allow; JSON first. */
export function* resolutions(args: Json, texts: StateTexts): Generator<Json, void> {
  const found = referencesIn(args);
  if (!found.ok) return;
  const values = new Map(found.paths.map((path) => [path, readingsOf(texts, path)]));
  const either = found.paths.filter((path) => (values.get(path)?.length ?? 0) > 1);
  const tried = either.slice(0, READINGS_BOTH_MAX);
  for (let choice = 0; choice < 2 ** tried.length; choice += 1) {
    yield rewrite(args, (text) => {
      const path = parsePath(text) ?? '';
      const asText = tried.includes(path) && (choice >> tried.indexOf(path)) % 2 === 1;
      return values.get(path)?.[asText ? 1 : 0] ?? null;
    });
  }
}

/** The first of these paths that holds nothing. */
export function missingFrom(texts: StateTexts, paths: readonly string[]): string | undefined {
  return paths.find((path) => readingsOf(texts, path).length === 0);
}

/** Places of the state that these paths need, with their values. */
export function valuesFor(state: State, paths: readonly string[]): State {
  const entries = Object.entries(state).filter(([place]) =>
    paths.some((path) => covers(place, path)),
  );
  return Object.fromEntries(entries);
}

/** A copy in which every reference is what `replace` makes of its text. Depth is limited by the activity. */
function rewrite(value: Json, replace: (text: string) => Json): Json {
  if (typeof value === 'string') {
    return value.startsWith(`${MARK}${STATE_PREFIX}`) ? replace(value.slice(MARK.length)) : value;
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
