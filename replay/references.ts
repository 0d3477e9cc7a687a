/**
 * What recorded values refer to: nodes of the conversation, and large texts.
 * Invariant: an export gathers and a reader asks for the same references, because both find them here.
 */
import { isBlobRef, ownValue, type Json } from '../core/json/json.js';
import { isText, isWellFormed } from '../core/json/shape.js';
import type { ServedTools } from './served-texts.js';

const HASH = /^[0-9a-f]{64}$/;
const NAME_CHARS_MAX = 200;

export interface References {
  /** In the order in which they were met. */
  readonly heads: ReadonlySet<string>;
  readonly blobs: ReadonlySet<string>;
  /** Of texts of goals, by names that an argument of a tool may have as well. */
  readonly texts: ReadonlySet<string>;
  /** Of pictures, documents and sounds: whoever sends a message names them, and may name what is not there. */
  readonly attachments: ReadonlySet<string>;
  /** Of tools of servers: a store may have kept none of what they said. */
  readonly served: ServedTools;
}

export const NO_REFERENCES: References = {
  heads: new Set(),
  blobs: new Set(),
  texts: new Set(),
  attachments: new Set(),
  served: new Map(),
};

export function referencesIn(values: Iterable<Json>): References {
  const heads = new Set<string>();
  const blobs = new Set<string>();
  const texts = new Set<string>();
  const attachments = new Set<string>();
  const served = new Map<string, { readonly name: string; readonly version: string }>();
  // `ref` is the whole of a shortened result.
  const named: { readonly [name: string]: Set<string> } = {
    head: heads,
    headBefore: heads,
    ref: blobs,
    definition: texts,
    memory: texts,
    checkpoint: texts,
    brief: texts,
  };
  for (const value of objectsIn(values)) {
    if (isBlobRef(value) && HASH.test(value.$blob))
      ('mediaType' in value ? attachments : blobs).add(value.$blob);
    const pinned = pinnedIn(value);
    if (pinned !== undefined) served.set(pinned.hash, pinned.tool);
    for (const [name, inner] of Object.entries(value)) {
      if (typeof inner === 'string' && HASH.test(inner)) ownValue(named, name)?.add(inner);
    }
  }
  return { heads, blobs, texts, attachments, served };
}

/** A tool of a server, as runs freeze it. */
function pinnedIn(value: object) {
  const { name, version, mcp } = value as { readonly [field: string]: unknown };
  if (typeof mcp !== 'object' || mcp === null) return undefined;
  const { hash } = mcp as { readonly hash?: unknown };
  if (typeof hash !== 'string' || !HASH.test(hash)) return undefined;
  if (!isName(name) || !isName(version)) return undefined;
  return { hash, tool: { name, version } };
}

/** As the store takes names: a model may write such an object as well. */
function isName(value: unknown): value is string {
  return isText(value, NAME_CHARS_MAX) && !value.includes('\0') && isWellFormed(value);
}

/** Every object and list at any depth; without recursion, because values may nest as deep as they like. */
function* objectsIn(values: Iterable<Json>): Generator<object> {
  for (const whole of values) {
    const waiting: unknown[] = [whole];
    while (waiting.length > 0) {
      const value = waiting.pop();
      if (typeof value !== 'object' || value === null) continue;
      yield value;
      for (const inner of Object.values(value)) waiting.push(inner);
    }
  }
}
