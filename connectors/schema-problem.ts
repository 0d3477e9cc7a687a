/**
 * A JSON Schema of somebody else's server, before anything is checked with it.
 * Invariant: nothing outside of the schema is looked up. Patterns that are known to be slow are refused here; that no check keeps a worker
 * busy, whatever its schema is, is the rule of schema-check.ts.
 */
import type { Json } from '../core/json/json.js';

const DEPTH_MAX = 32;
const PARTS_MAX = 5_000;
const PATTERN_CHARS_MAX = 300;
/** A repeated group that repeats inside: time may grow exponentially with the text. */
const NESTED_REPEAT = /[+*}][^()]*\)[+*{]/;
/** A repeated group with choices. */
const REPEATED_CHOICE = /\([^()]*\|[^()]*\)[+*{]/;
const BACKREFERENCE = /\\[1-9k]/;

/** What is wrong with it; undefined: it can be used. */
export function schemaProblem(schema: Json): string | undefined {
  let parts = 0;
  const walk = (value: Json, depth: number, key: string): string | undefined => {
    parts += 1;
    if (parts > PARTS_MAX) return `has more than ${PARTS_MAX} parts`;
    if (depth > DEPTH_MAX) return `is nested deeper than ${DEPTH_MAX} levels`;
    if (typeof value === 'string') return textProblem(key, value);
    if (typeof value !== 'object' || value === null) return undefined;
    for (const [name, inner] of Object.entries(value) as [string, Json][]) {
      const problem = key === 'patternProperties' ? patternProblem(name) : undefined;
      const found = problem ?? walk(inner, depth + 1, name);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return walk(schema, 0, '');
}

function textProblem(key: string, value: string): string | undefined {
  if (key === 'pattern') return patternProblem(value);
  const refers = key === '$ref' || key === '$dynamicRef' || key === '$recursiveRef';
  return refers && !value.startsWith('#') ? 'refers to another document' : undefined;
}

function patternProblem(pattern: string): string | undefined {
  if (pattern.length > PATTERN_CHARS_MAX)
    return `has a pattern above ${PATTERN_CHARS_MAX} characters`;
  const isSlow = [NESTED_REPEAT, REPEATED_CHOICE, BACKREFERENCE].some((bad) => bad.test(pattern));
  return isSlow ? 'has a pattern that may take very long' : undefined;
}
