/**
 * Arguments of a tool call as a model wrote them. What is not one plain JSON object of sane depth becomes
 * `{"$unparsed": "<its text, bounded>"}`: still an object, so it can be shown to the model again, and
 * recognisable, so that the core refuses the call as invalid_arguments and nothing runs.
 */
import type { Json } from '../core/json.js';

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
    const read = readArguments(JSON.parse(text) as Json);
    if (read.ok) return read;
  } catch {
    // Falls through to the marker: the text says best what is wrong with it.
  }
  return { ok: false, args: unparsed(text) };
}

/** Arguments that came as JSON within other JSON. */
export function readArguments(value: Json): ParsedArguments {
  return isPlainObject(value) && isSane(value, DEPTH_MAX)
    ? { ok: true, args: value }
    : { ok: false, args: unparsed(JSON.stringify(value)) };
}

/** The text of arguments that could not be read, or undefined when they could. */
export function unparsedText(args: Json): string | undefined {
  if (!isPlainObject(args)) return undefined;
  const keys = Object.keys(args);
  const text = args[UNPARSED_KEY];
  return keys.length === 1 && typeof text === 'string' ? text : undefined;
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

/** Finite numbers (1e999 reads as Infinity) and no nesting that later code would have to recurse into. */
function isSane(value: Json, depthLeft: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depthLeft === 0) return false;
  return Object.values(value).every((inner: Json) => isSane(inner, depthLeft - 1));
}
