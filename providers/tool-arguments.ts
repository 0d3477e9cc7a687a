/**
 * Arguments of a tool call as a model wrote them. What is not one plain JSON object of sane depth becomes
 * `{"$unparsed": "<its text, bounded>"}`: still an object, so it can be shown to the model again, and
 * recognisable, so that the core refuses the call as invalid_arguments and nothing runs. What is one, but
 * cannot be used, says why beside it: `"$because"`.
 */
import type { Json } from '../core/json.js';

const UNPARSED_KEY = '$unparsed';
const BECAUSE_KEY = '$because';
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
  const asText = (): string => text ?? JSON.stringify(value);
  if (!isPlainObject(value)) return { ok: false, args: unparsed(asText()) };
  const defect = insaneIn(value, DEPTH_MAX);
  return defect === undefined
    ? { ok: true, args: value }
    : { ok: false, args: { ...unparsed(asText()), [BECAUSE_KEY]: defect } };
}

export interface UnreadArguments {
  readonly text: string;
  /** Why they cannot be used although they are a JSON object. */
  readonly because?: string;
}

/** Arguments that could not be read, or undefined when they could. */
export function unreadArguments(args: Json): UnreadArguments | undefined {
  if (!isPlainObject(args)) return undefined;
  const { [UNPARSED_KEY]: text, [BECAUSE_KEY]: because, ...rest } = args;
  if (typeof text !== 'string' || Object.keys(rest).length > 0) return undefined;
  if (because === undefined) return { text };
  return typeof because === 'string' ? { text, because } : undefined;
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
  if (depthLeft === 0) return `they are nested deeper than ${DEPTH_MAX} levels`;
  for (const inner of Object.values(value) as readonly Json[]) {
    const defect = insaneIn(inner, depthLeft - 1);
    if (defect !== undefined) return defect;
  }
  return undefined;
}
