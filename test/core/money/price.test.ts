import fc from 'fast-check';
import { affordableOutput, boundMicroUsd, costMicroUsd } from '../../../core/money/budget.js';

const PRICES = { input: 3_000_000, output: 15_000_000, cacheRead: 300_000, cacheWrite: 3_750_000 };
const NOTHING = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

const tokens = fc.nat({ max: 4_000_000 });
const price = fc.nat({ max: 100_000_000 });
const prices = fc.record({ input: price, output: price, cacheRead: price, cacheWrite: price });
const usages = fc.record({ input: tokens, output: tokens, cacheRead: tokens, cacheWrite: tokens });

function exactly(usage: typeof NOTHING, at: typeof PRICES): bigint {
  const keys = ['input', 'output', 'cacheRead', 'cacheWrite'] as const;
  const total = keys.reduce((sum, key) => sum + BigInt(usage[key]) * BigInt(at[key]), 0n);
  return (total + 999_999n) / 1_000_000n;
}

describe('the cost of a call', () => {
  test('S71: a million in and a hundred thousand out cost 4.50 USD', () => {
    expect(costMicroUsd({ ...NOTHING, input: 1_000_000, output: 100_000 }, PRICES)).toBe(4_500_000);
  });

  test('prices the cache apart', () => {
    expect(costMicroUsd({ ...NOTHING, cacheRead: 1_000_000, cacheWrite: 2 }, PRICES)).toBe(300_008);
  });

  test('is rounded up once, never down', () => {
    expect(costMicroUsd({ ...NOTHING, cacheRead: 1 }, PRICES)).toBe(1);
    expect(costMicroUsd(NOTHING, PRICES)).toBe(0);
  });

  test('is the exact sum, rounded up', () => {
    fc.assert(
      fc.property(usages, prices, (usage, at) => {
        expect(BigInt(costMicroUsd(usage, at))).toBe(exactly(usage, at));
      }),
    );
  });
});

describe('the bound of a request', () => {
  test('covers every way its tokens can be billed', () => {
    fc.assert(
      fc.property(usages, prices, (usage, at) => {
        const input = usage.input + usage.cacheRead + usage.cacheWrite;
        expect(boundMicroUsd(input, usage.output, at)).toBeGreaterThanOrEqual(
          costMicroUsd(usage, at),
        );
      }),
    );
  });

  test('of the affordable output fits the money, one token more does not', () => {
    fc.assert(
      fc.property(fc.nat({ max: 50_000_000 }), tokens, prices, (money, input, at) => {
        const output = affordableOutput(money, input, at);
        if (output < 0 || !Number.isFinite(output)) return;
        expect(boundMicroUsd(input, output, at)).toBeLessThanOrEqual(money);
        expect(boundMicroUsd(input, output + 1, at)).toBeGreaterThan(money);
      }),
    );
  });

  test('a free output is limited by its prompt alone', () => {
    const free = { ...PRICES, output: 0 };
    expect(affordableOutput(10, 0, free)).toBe(Number.POSITIVE_INFINITY);
    expect(affordableOutput(10, 1_000, free)).toBeLessThan(0);
  });
});
