/**
 * Caches of vendors by their documented rules, over the exact bytes of each request. A token is taken for four bytes.
 * Invariant: of the tokens of a request each is of one class: read from the cache, written to it, or neither.
 */
import { createHash } from 'node:crypto';

/** A part of a request that the vendor compares whole: a tool, a block, a message. */
export interface Piece {
  readonly text: string;
  /** The cache is to end behind it. */
  readonly marked: boolean;
  /** Changes what follows, and is no input: parameters that the vendor keeps apart. */
  readonly silent?: true;
}

export interface Classes {
  readonly read: number;
  readonly written: number;
  readonly uncached: number;
}

export interface VendorCache {
  /** A request that leaves at this moment. */
  take(pieces: readonly Piece[], atMs: number): Classes;
}

const BYTES_PER_TOKEN = 4;
/** Each reading begins it anew. */
export const LIFETIME_MS = 300_000;
/** Places that are looked at for each mark, the mark itself among them. */
export const LOOK_BACK = 20;
export const MARKS_MAX = 4;

export function tokensOf(pieces: readonly Piece[]): number {
  return (
    pieces.reduce((sum, { text, silent }) => sum + (silent ? 0 : bytesOf(text)), 0) /
    BYTES_PER_TOKEN
  );
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}

/** Names of all beginnings of a request, behind what it says without being input. */
function beginnings(
  pieces: readonly { readonly text: string }[],
  behind: readonly Piece[] = [],
): readonly string[] {
  let name = JSON.stringify(behind.map(({ text }) => text));
  return pieces.map(({ text }) => {
    name = createHash('sha256').update(name).update('\0').update(text).digest('base64');
    return name;
  });
}

/** Kept are beginnings that end at a mark and have at least so many tokens; found are those near a mark. */
export function markedCache(tokensMin: number): VendorCache {
  const endsAt = new Map<string, number>();
  return {
    take(pieces, atMs) {
      const marks = pieces.flatMap(({ marked }, index) => (marked ? [index] : []));
      if (marks.length > MARKS_MAX)
        throw new Error(`${marks.length} marks: ${MARKS_MAX} are the most`);
      const begins = beginnings(pieces);
      const sizes = pieces.map((_, index) => tokensOf(pieces.slice(0, index + 1)));
      const alive = (index: number): boolean => (endsAt.get(begins[index] ?? '') ?? -1) >= atMs;
      const looked = marks.flatMap((mark) =>
        Array.from({ length: Math.min(LOOK_BACK, mark + 1) }, (_, back) => mark - back),
      );
      const found = Math.max(-1, ...looked.filter(alive));
      const kept = marks.filter((mark) => sizes[mark]! >= tokensMin);
      const end = Math.max(found, ...kept);
      for (const index of [...kept, ...(found < 0 ? [] : [found])]) {
        endsAt.set(begins[index]!, atMs + LIFETIME_MS);
      }
      const read = found < 0 ? 0 : sizes[found]!;
      const known = end < 0 ? 0 : sizes[end]!;
      return { read, written: known - read, uncached: tokensOf(pieces) - known };
    },
  };
}

/** Every beginning is kept, by so many tokens; read is the longest that was there, from `tokensMin` on. */
export function prefixCache({ tokensMin, step }: { tokensMin: number; step: number }): VendorCache {
  const endsAt = new Map<string, number>();
  return {
    take(pieces, atMs) {
      const input = pieces.filter(({ silent }) => silent === undefined);
      const bytes = Buffer.from(input.map(({ text }) => text).join('\0'));
      const length = step * BYTES_PER_TOKEN;
      const slices = Array.from({ length: Math.floor(bytes.length / length) }, (_, index) => ({
        text: bytes.subarray(index * length, (index + 1) * length).toString('latin1'),
      }));
      const parameters = pieces.filter(({ silent }) => silent);
      const begins = beginnings(slices, parameters);
      const gone = begins.findIndex((name) => (endsAt.get(name) ?? -1) < atMs);
      const there = (gone < 0 ? begins.length : gone) * step;
      for (const name of begins) endsAt.set(name, atMs + LIFETIME_MS);
      const all = tokensOf(pieces);
      const read = there >= tokensMin ? Math.min(there, all) : 0;
      return { read, written: 0, uncached: all - read };
    },
  };
}
