/**
 * Where recorded streams are cut: at every eighth byte, as the seed draws, which is each byte in eight runs of the tests.
 * HOLDFAST_WHOLE=1: at each.
 */
import { everyFew } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';

const APART = WHOLE ? 1 : 8;

/** Before `end`. */
export const cutPlaces = (end: number): readonly number[] => everyFew(end, APART, SEED);

export const sayCutPlaces = (what: string): void =>
  saySeed(`${what} cut at one of ${APART} places`);
