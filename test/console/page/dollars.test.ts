/** Amounts of money as people type them. */
import { readDollars } from '../../../console/page/goals/dollars.js';

test.each([
  ['1800', 1_800_000_000],
  [' 1800.5 ', 1_800_500_000],
  ['1,80', 1_800_000],
  ['2.05', 2_050_000],
  ['.5', 500_000],
])('%j is an amount', (typed, microUsd) => {
  expect(readDollars(typed)).toEqual({ microUsd });
});

test.each(['1,800', '1.800', '12,000'])('%j could be two amounts and is refused', (typed) => {
  expect(readDollars(typed)).toMatchObject({ fault: expect.stringContaining('two amounts') });
});

test.each(['', '0', '0x10', '1e3', '-5', '$5', '1,800,000', '1.234567', 'ten', '9999999999'])(
  '%j is no budget',
  (typed) => {
    expect(readDollars(typed)).toHaveProperty('fault');
  },
);
