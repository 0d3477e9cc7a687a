import { isAnother } from '../../../cli/terminal/interrupt.js';

test('a signal that npm forwards counts as the same Ctrl-C', () => {
  expect([0, 20, 200].map(isAnother)).toEqual([false, false, false]);
});

test('a second Ctrl-C half a second after the first is a second one', () => {
  expect([500, 900, 60_000].map(isAnother)).toEqual([true, true, true]);
});
