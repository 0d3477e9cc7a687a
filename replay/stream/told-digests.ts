/**
 * Digests of the events of a run, by their numbers. Their bytes lie beside the heap of objects: a long run has tens of
 * thousands, and of each nothing is asked but whether a history carries it as it was told.
 */
import { sha256OfText } from '../sha256.js';
import type { ToldEvent } from '../broken-content.js';

const DIGEST_BYTES = 32;
/** A digest, and whether it has been met. */
const PLACE_BYTES = DIGEST_BYTES + 1;
const PLACES_MIN = 256;

export interface ToldDigests {
  /** False: the number is not behind the one before. */
  add(seq: number, form: string): boolean;
  /** Hears what a history carries under a number, in each of the forms that it came in. */
  carried(seq: number, forms: () => readonly string[]): void;
  /** In order. */
  all(): Iterable<ToldEvent>;
}

export function toldDigests(): ToldDigests {
  const numbers: number[] = [];
  let bytes = Buffer.alloc(PLACES_MIN * PLACE_BYTES);
  const isMet = (place: number): boolean => bytes[(place + 1) * PLACE_BYTES - 1] === 1;
  return {
    add(seq, form) {
      if (seq <= (numbers.at(-1) ?? -1)) return false;
      const start = numbers.length * PLACE_BYTES;
      if (start === bytes.length) bytes = Buffer.concat([bytes, Buffer.alloc(start)]);
      bytes.write(sha256OfText(form, 'binary'), start, 'latin1');
      numbers.push(seq);
      return true;
    },
    carried(seq, forms) {
      const place = placeIn(numbers, seq);
      if (place === undefined || isMet(place)) return;
      const end = (place + 1) * PLACE_BYTES - 1;
      const digest = bytes.toString('latin1', end - DIGEST_BYTES, end);
      if (forms().some((form) => sha256OfText(form, 'binary') === digest)) bytes[end] = 1;
    },
    *all() {
      for (const [place, seq] of numbers.entries()) yield { seq, isCarried: () => isMet(place) };
    },
  };
}

/** Of numbers that grow. */
function placeIn(numbers: readonly number[], wanted: number): number | undefined {
  let [from, to] = [0, numbers.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (numbers[middle]! < wanted) from = middle + 1;
    else to = middle;
  }
  return numbers[from] === wanted ? from : undefined;
}
