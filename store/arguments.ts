/**
 * Call arguments with their long strings in the blob store, and back.
 * Invariants: restoring what was spilled gives the same value (unpaired surrogates having become U+FFFD);
 * an object that looks like a reference is refused on the way in, so that nobody can name a text that
 * is not theirs by writing its hash into an argument.
 */
import { HoldfastError } from '../core/state/errors.js';
import { ARGUMENT_STRING_BYTES_MAX, isBlobRef, type Json } from '../core/json/json.js';
import { blobOf, missingBlob, readBlobs, writeBlobs, type BlobContent } from './blobs.js';
import { isWellFormed, wellFormed } from './bounds.js';
import type { Db } from './database.js';

/** Deepest nesting of objects and lists in arguments. */
export const ARGUMENTS_DEPTH_MAX = 64;
/** Most strings of one argument object that may be spilled. */
export const SPILLED_STRINGS_MAX = 1000;

export interface Arguments {
  /**
   * Replaces each string above ARGUMENT_STRING_BYTES_MAX bytes by its BlobRef, at any depth; `bytes` is
   * the size of what remains, as JSON. Give it restored arguments only: references are refused.
   * Errors: `InvalidRequest` for what is no JSON, deeper than ARGUMENTS_DEPTH_MAX, or like a BlobRef.
   */
  spillArguments(
    tenant: string,
    args: Json,
  ): Promise<{ readonly args: Json; readonly bytes: number }>;
  /** The inverse. Errors: `TranscriptMissing` when a blob is not there. */
  restoreArguments(tenant: string, args: Json): Promise<Json>;
}

export function argumentsOf(db: Db): Arguments {
  return {
    async spillArguments(tenant, args) {
      const spilled = new Map<string, BlobContent>();
      const rest = rewrite(args, (value) => spill(value, spilled));
      await writeBlobs(db, tenant, [...spilled.values()]);
      return { args: rest, bytes: Buffer.byteLength(JSON.stringify(rest), 'utf8') };
    },
    async restoreArguments(tenant, args) {
      const hashes = new Set<string>();
      const bare = rewrite(args, (value) => {
        if (isBlobRef(value)) hashes.add(value.$blob);
        return isBlobRef(value) ? null : undefined;
      });
      if (hashes.size === 0) return bare;
      const texts = await readBlobs(db, tenant, [...hashes]);
      return withTexts(args, (hash) => textOf(texts, hash));
    },
  };
}

/** Arguments with their texts back in their places, from wherever these are kept. */
export function withTexts(args: Json, textOfHash: (hash: string) => string): Json {
  return rewrite(args, (value) => (isBlobRef(value) ? textOfHash(value.$blob) : undefined));
}

/** A string as it is stored; undefined for what `rewrite` has to look into. */
function spill(value: Json, spilled: Map<string, BlobContent>): Json | undefined {
  if (typeof value === 'string') return spillString(value, spilled);
  if (isBlobRef(value)) throw invalid('An argument looks like a reference to a stored text.');
  return undefined;
}

function spillString(text: string, spilled: Map<string, BlobContent>): Json {
  // A character takes at most three bytes per UTF-16 unit: short strings need no second look.
  if (text.length * 3 <= ARGUMENT_STRING_BYTES_MAX) return wellFormed(text);
  const blob = blobOf(text);
  if (blob.ref.bytes <= ARGUMENT_STRING_BYTES_MAX) return blob.content.toString('utf8');
  spilled.set(blob.ref.$blob, blob);
  if (spilled.size > SPILLED_STRINGS_MAX) throw invalid('The arguments hold too many long texts.');
  return { ...blob.ref };
}

function textOf(texts: ReadonlyMap<string, string>, hash: string): string {
  const text = texts.get(hash);
  if (text === undefined) throw missingBlob(hash);
  return text;
}

/** A copy of a JSON value in which every part that `replace` gives a value for is that value. */
function rewrite(value: Json, replace: (part: Json) => Json | undefined, depth = 0): Json {
  const replaced = replace(value);
  if (replaced !== undefined) return replaced;
  if (typeof value !== 'object' || value === null) return scalar(value);
  if (depth >= ARGUMENTS_DEPTH_MAX) {
    throw invalid(`The arguments are nested deeper than ${ARGUMENTS_DEPTH_MAX} levels.`);
  }
  if (Array.isArray(value)) {
    return Array.from(value as readonly Json[], (item) => rewrite(item, replace, depth + 1));
  }
  // `fromEntries` defines own properties, `__proto__` among them.
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [keyOf(key), rewrite(part, replace, depth + 1)]),
  );
}

function scalar(value: Json): Json {
  const isJson =
    value === null ||
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value));
  if (!isJson) throw invalid('An argument is not a JSON value.');
  return value;
}

function keyOf(key: string): string {
  if (!isWellFormed(key)) throw invalid('The name of an argument is not valid Unicode.');
  return key;
}

function invalid(message: string): HoldfastError {
  return new HoldfastError('InvalidRequest', message, {
    hint: 'Send arguments that are plain JSON and fit the limits.',
  });
}
