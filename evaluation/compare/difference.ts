/** What was expected and not seen: data for a report, sentences for people. */
import { canonicalJson, previewOf, type Json, type StoredText } from '../../core/json/json.js';

export interface Difference {
  /** Key path of the expectation, such as `results.a.code`. */
  readonly path: string;
  readonly expected: Json;
  readonly observed: Json;
}

/** Stands in a difference for what is not there. */
export const ABSENT = '(absent)';

export const NO_DIFFERENCE: readonly Difference[] = [];

export function difference(
  path: string,
  expected: Json,
  observed: Json | undefined,
): readonly Difference[] {
  return [{ path, expected, observed: observed ?? ABSENT }];
}

/** Equal as JSON; the order of keys says nothing. */
export function equal(path: string, expected: Json, observed: Json | undefined) {
  return isSame(expected, observed) ? NO_DIFFERENCE : difference(path, expected, observed);
}

export function isSame(a: Json, b: Json | undefined): boolean {
  return b !== undefined && canonicalJson(a) === canonicalJson(b);
}

export function wholeText(stored: StoredText | undefined): string | undefined {
  return stored === undefined ? undefined : previewOf(stored);
}
