/** The speed gate stops when the pairs that are left cannot change its verdict. */
import fc from 'fast-check';
import { reachOf } from '../../lab/seal/reach.js';
import { median } from '../../lab/bench/statistics.js';
import { SEED } from '../seed.js';

const ratio = fc.double({ min: 0.5, max: 3, noNaN: true });
const three = fc.tuple(ratio, ratio, ratio);

test('the whole round lies within what any part of it can reach, and one that is decided keeps its verdict', () => {
  fc.assert(
    fc.property(three, three, fc.integer({ min: 0, max: 3 }), (base, here, known) => {
      const part = { base: base.slice(0, known), here: here.slice(0, known) };
      const { least, most } = reachOf(part, 3);
      const whole = median(here) / median(base);
      expect(whole).toBeGreaterThanOrEqual(least);
      expect(whole).toBeLessThanOrEqual(most);
      if (known === 0) return;
      const soFar = median(part.here) / median(part.base);
      expect(soFar >= least && soFar <= most).toBe(true);
    }),
    { seed: SEED },
  );
});

test.each([
  [[1.2, 1.14], [1.3, 1.43], 1.08],
  [[1.6, 1.31], [1.04, 1.16], 0.89],
])('two pairs of three may decide: %j and %j', (base, here, bound) => {
  const { least, most } = reachOf({ base, here }, 3);
  expect(bound > 1 ? least > bound : most < bound).toBe(true);
});

test('one pair decides nothing', () => {
  expect(reachOf({ base: [1], here: [9] }, 3)).toEqual({ least: 0, most: Infinity });
});
