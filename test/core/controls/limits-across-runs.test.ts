/** Limits across runs: exactly at the limit, one above it, and what the model is told. */
import {
  dayOf,
  exceedance,
  limitMessage,
  LIMIT_SCOPES,
  totalNames,
  type LimitScope,
  type Total,
  type Totals,
} from '../../../core/controls/limits-across-runs.js';

const DAY_MS = 86_400_000;
const spent = (total: Total): Totals => ({ perCustomerAndDay: total, perDay: total, inAll: total });

test('a day is one of UTC, and begins at midnight', () => {
  expect([DAY_MS - 1, DAY_MS, 2 * DAY_MS - 1].map(dayOf)).toEqual([0, 1, 1]);
});

test('a total is kept for the customer only where there is one', () => {
  expect(totalNames({ amount: 1 }, 3)).toStrictEqual({ perDay: 'day:3', inAll: 'all' });
  expect(totalNames({ amount: 1, customer: 'c' }, 3)).toStrictEqual({
    perCustomerAndDay: 'customer:3:c',
    perDay: 'day:3',
    inAll: 'all',
  });
});

describe.each(LIMIT_SCOPES)('a limit %s', (scope) => {
  const used = { amount: 90, count: 2 };

  test('takes what just fits, and nothing more', () => {
    const over = (rule: object, amount: number) =>
      exceedance({ [scope]: rule }, spent(used), { amount });
    expect(over({ amount: 100 }, 10)).toBeUndefined();
    expect(over({ amount: 100 }, 11)).toEqual({
      scope,
      unit: 'amount',
      limit: 100,
      used: 90,
      wanted: 11,
    });
    expect(over({ count: 3 }, 1_000)).toBeUndefined();
    expect(over({ count: 2 }, 0)).toEqual({ scope, unit: 'count', limit: 2, used: 2, wanted: 1 });
    // What it does not limit is free.
    expect(over({}, 1_000_000)).toBeUndefined();
    expect(over({ amount: 100, count: 2 }, 11)).toMatchObject({ unit: 'count' });
  });

  test('is told to the model without what others have used', () => {
    const said = (unit: 'amount' | 'count') =>
      limitMessage('refund', { scope, unit, limit: 100, used: 93, wanted: 11 });
    expect(said('count')).toContain('limited to 100 calls');
    expect(said('amount')).toContain('limited to an amount of 100');
    expect(said('count').includes('93 are used')).toBe(scope === 'perCustomerAndDay');
    expect(said('count').includes('when a new day begins')).toBe(scope !== 'inAll');
    expect(said('count').includes('a person has to decide')).toBe(scope === 'inAll');
  });
});

test('the limits are looked at in their order', () => {
  const rules: { [scope in LimitScope]: { amount: number } } = {
    perCustomerAndDay: { amount: 0 },
    perDay: { amount: 0 },
    inAll: { amount: 0 },
  };
  const totals = spent({ amount: 0, count: 0 });
  expect(exceedance(rules, totals, { amount: 1 })).toMatchObject({ scope: 'perCustomerAndDay' });
  expect(exceedance({ perDay: {} }, totals, { amount: 1 })).toBeUndefined();
});
