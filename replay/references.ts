/**
 * What recorded values refer to: nodes of the conversation, and large texts.
 * Invariant: an export gathers and a reader asks for the same references, because both find them here.
 */
import { isBlobRef, type Json } from '../core/json/json.js';
import { isText, isWellFormed } from '../core/json/shape.js';
import type { ServedTools } from './served-texts.js';

const HASH = /^[0-9a-f]{64}$/;
const HASH_CHARS = 64;
const NAME_CHARS_MAX = 200;

/** What names of fields say that a hash is of. `ref` is the whole of a shortened result. */
const NAMED: ReadonlyMap<string, 'heads' | 'blobs' | 'texts'> = new Map([
  ['head', 'heads'],
  ['headBefore', 'heads'],
  ['ref', 'blobs'],
  ['definition', 'texts'],
  ['memory', 'texts'],
  ['checkpoint', 'texts'],
  ['brief', 'texts'],
]);

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
  const sets = { heads, blobs, texts };
  eachObject(
    values,
    (value) => {
      if (isBlobRef(value) && HASH.test(value.$blob))
        ('mediaType' in value ? attachments : blobs).add(value.$blob);
      const pinned = pinnedIn(value);
      if (pinned !== undefined) served.set(pinned.hash, pinned.tool);
    },
    (name, text) => {
      if (text.length !== HASH_CHARS) return;
      const kind = NAMED.get(name);
      if (kind !== undefined && HASH.test(text)) sets[kind].add(text);
    },
  );
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

/**
 * Every object at any depth, and then its texts by their names; without recursion, because values may nest as deep as
 * they like. A bundle has hundreds of thousands of objects: no list is made of any.
 */
function eachObject(
  values: Iterable<Json>,
  object: (value: object) => void,
  text: (name: string, text: string) => void,
): void {
  const waiting: unknown[] = [];
  const look = (value: object): void => {
    if (Array.isArray(value)) {
      for (const inner of value as readonly unknown[]) waiting.push(inner);
      return;
    }
    object(value);
    const fields = value as { readonly [name: string]: unknown };
    for (const name in fields) {
      const inner = fields[name];
      if (typeof inner === 'string') text(name, inner);
      else waiting.push(inner);
    }
  };
  for (const whole of values) {
    waiting.push(whole);
    while (waiting.length > 0) {
      const value = waiting.pop();
      if (typeof value === 'object' && value !== null) look(value);
    }
  }
}
