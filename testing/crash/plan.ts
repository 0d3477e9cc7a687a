/**
 * Seeded choices, so that one number repeats a failure.
 * Invariant: what a stream draws depends on the seed and its own number alone, not on other streams.
 */
import {
  checkOptions,
  needed,
  oneOf,
  optionDefect,
  rules,
  type OptionRules,
} from '../../pure/options.js';
import { CRASH_BOUNDARIES, type CrashBoundary } from './boundary.js';

/** A number from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number;

/** Mulberry32: small, and the same on every machine. Not for secrets. */
export function seededRandom(seed: number, stream: number): Random {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(stream + 1, 0x85ebca6b)) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A whole number from 0 to `limit` - 1. */
export function drawBelow(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

/** How often a run will pass each boundary; one that it never passes is left out or 0. */
export type PassageCounts = { readonly [boundary in CrashBoundary]?: number };

export interface CrashPlan {
  readonly boundary: CrashBoundary;
  /** Which passage, from 0. */
  readonly nth: number;
}

export interface CrashChoice {
  readonly seed: number;
  /** Number of the run among those of this seed. */
  readonly stream: number;
  readonly passages: PassageCounts;
  /** Only this boundary. */
  readonly boundary?: CrashBoundary;
}

const PASSAGES = rules(`amount ${CRASH_BOUNDARIES.join(' ')}`);
const CHOICE: OptionRules<CrashChoice> = {
  ...rules('number! seed stream'),
  passages: needed({
    is: `how often it passes ${CRASH_BOUNDARIES.join(', ')}`,
    fits: (value) => optionDefect('', value, PASSAGES) === undefined,
  }),
  boundary: oneOf(...CRASH_BOUNDARIES),
};

/** Chooses where a run's worker dies; undefined when the run passes no such boundary. Errors: InvalidConfig. */
export function planCrash(choice: CrashChoice): CrashPlan | undefined {
  checkOptions('planCrash', choice, CHOICE);
  const { seed, stream, passages } = choice;
  const wanted = choice.boundary === undefined ? CRASH_BOUNDARIES : [choice.boundary];
  const possible = wanted.filter((boundary) => (passages[boundary] ?? 0) > 0);
  const random = seededRandom(seed, stream);
  const boundary = possible[drawBelow(random, possible.length)];
  if (boundary === undefined) return undefined;
  return { boundary, nth: drawBelow(random, passages[boundary] ?? 1) };
}
