/**
 * Arguments of a tool call as a model wrote them. What is not one plain JSON object of sane depth becomes
 * `{"$unparsed": "<its text, bounded>"}`: still an object, so it can be shown to the model again, and
 * recognisable, so that the core refuses the call as invalid_arguments and nothing runs.
 */
import type { Json } from '../core/json/json.js';

const UNPARSED_KEY = '$unparsed';
const UNPARSED_CHARS_MAX = 2000;
const DEPTH_MAX = 100;

export interface ParsedArguments {
  readonly ok: boolean;
  readonly args: Json;
}

/** No text at all means no arguments: models send that for tools without any. */
export function parseArguments(text: string): ParsedArguments {
  if (text.trim() === '') return { ok: true, args: {} };
  try {
    return readArguments(JSON.parse(text) as Json, text);
  } catch {
    // The text says best what is wrong with it.
    return { ok: false, args: unparsed(text) };
  }
}

/** Arguments that came as JSON within other JSON. */
export function readArguments(value: Json, text?: string): ParsedArguments {
  return isPlainObject(value) && insaneIn(value, DEPTH_MAX) === undefined
    ? { ok: true, args: value }
    : { ok: false, args: unparsed(text ?? JSON.stringify(value)) };
}

/** The text of arguments that could not be read, or undefined when they could. */
export function unparsedText(args: Json): string | undefined {
  if (!isPlainObject(args)) return undefined;
  const keys = Object.keys(args);
  const text = args[UNPARSED_KEY];
  return keys.length === 1 && typeof text === 'string' ? text : undefined;
}

/** Why arguments with this text, or this beginning of it, could not be read. */
export function whyUnread(text: string): string {
  try {
    const value = JSON.parse(text) as Json;
    return (isPlainObject(value) && insaneIn(value, DEPTH_MAX)) || NOT_ONE_OBJECT;
  } catch {
    return nestingOf(text) > DEPTH_MAX ? TOO_DEEP : NOT_ONE_OBJECT;
  }
}

const NOT_ONE_OBJECT = 'they are not one JSON object';
const TOO_DEEP = `they are nested deeper than ${DEPTH_MAX} levels`;

/** The deepest place of a text that may end anywhere. */
function nestingOf(text: string): number {
  let deepest = 0;
  let depth = 0;
  for (const [found] of text.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}]/g)) {
    if (found === '[' || found === '{') depth += 1;
    else if (found === ']' || found === '}') depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** Arguments as a vendor accepts them: an object in any case. */
export function asArgumentObject(args: Json): { readonly [key: string]: Json } {
  return isPlainObject(args) ? args : unparsed(JSON.stringify(args));
}

function unparsed(text: string): { readonly [key: string]: Json } {
  const cut = text.length > UNPARSED_CHARS_MAX;
  return { [UNPARSED_KEY]: cut ? `${text.slice(0, UNPARSED_CHARS_MAX)}…` : text };
}

function isPlainObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Numbers must be finite (1e999 reads as Infinity), and no later code has to recurse far. */
function insaneIn(value: Json, depthLeft: number): string | undefined {
  if (typeof value === 'number') {
    return Number.isFinite(value) ? undefined : 'a number in them is not finite';
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depthLeft === 0) return TOO_DEEP;
  for (const inner of Object.values(value) as readonly Json[]) {
    const defect = insaneIn(inner, depthLeft - 1);
    if (defect !== undefined) return defect;
  }
  return undefined;
}
