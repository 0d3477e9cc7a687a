/** How often a property is tried: a third of the times, other ones with each seed. HOLDFAST_WHOLE=1: all of them. */
import { saySeed, SEED, WHOLE } from './seed.js';

const PART = 3;

/** For fast-check: `times` of the whole, which `seed` makes the same every time. */
export function drawsOf(times: number, seed?: number): { numRuns: number; seed?: number } {
  if (WHOLE) return { numRuns: times, ...(seed !== undefined && { seed }) };
  const numRuns = Math.ceil(times / PART);
  saySeed(`${numRuns} of the draws of each property`);
  return { numRuns, ...(Number.isFinite(SEED) && { seed: SEED }) };
}
