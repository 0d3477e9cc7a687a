/** Durations and amounts of definitions. */
import { days, hours, minutes, seconds, usd } from '../../authoring/index.js';
import { errorOf } from './error-of.js';

test('durations become milliseconds, and dollars millionths of them', () => {
  expect([seconds(1.5), minutes(2), hours(24), days(1)]).toEqual([
    1_500, 120_000, 86_400_000, 86_400_000,
  ]);
  expect([usd(0.5), usd(0), usd(0.000_001), usd(0.29)]).toEqual([500_000, 0, 1, 290_000]);
  expect(hours(Infinity)).toBe(Infinity);
});

test.each([
  ['seconds', seconds],
  ['minutes', minutes],
  ['hours', hours],
  ['days', days],
  ['usd', usd],
] as const)(
  '%s takes no text, and nothing else that JavaScript would reckon with',
  (name, unit) => {
    for (const value of ['24', null, true, Number.NaN, undefined, ['5']]) {
      const { code, message, hint } = errorOf(() => unit(value as never));
      expect(code).toBe('InvalidConfig');
      expect(message).toMatch(
        new RegExp(`^${name} takes (0 or )?a number( from 0.000001)?, and got `),
      );
      expect(hint).toBe(`Write it as ${name}(${name === 'usd' ? 0.25 : 24}).`);
    }
  },
);

test('an amount that would silently be nothing is refused', () => {
  expect(errorOf(() => usd(1e-7)).message).toContain(
    'usd takes 0 or a number from 0.000001, and got 1e-7.',
  );
  expect(errorOf(() => usd(-1)).message).toContain('0 or a number from 0.000001, and got -1.');
  expect(errorOf(() => usd(9e-7)).message).toContain('0 or a number from 0.000001');
});
