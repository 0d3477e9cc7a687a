/**
 * What a call costs, and the most that a request may cost.
 * Invariants: integer micro-USD, rounded up once per call (design §10); no floating point beyond the
 * exact product of two integers below 2^53.
 */
import type { Prices, Usage } from '../state/model.js';

const TOKENS_PER_PRICE = 1_000_000;

/** Cost of one call in micro-USD: ⌈Σ tokens × price⌉, prices per million tokens. */
export function costMicroUsd(usage: Usage, prices: Prices): number {
  const total =
    usage.input * prices.input +
    usage.output * prices.output +
    usage.cacheRead * prices.cacheRead +
    usage.cacheWrite * prices.cacheWrite;
  return Math.ceil(total / TOKENS_PER_PRICE);
}

/** The dearest way a prompt token can be billed: plainly, or by way of the cache. */
export function inputPrice(prices: Prices): number {
  return Math.max(prices.input, prices.cacheWrite, prices.cacheRead);
}

/** Most that `inputTokens` of prompt and `outputTokens` of reply can cost, in micro-USD. */
export function boundMicroUsd(inputTokens: number, outputTokens: number, prices: Prices): number {
  return Math.ceil(
    (inputTokens * inputPrice(prices) + outputTokens * prices.output) / TOKENS_PER_PRICE,
  );
}

/** How many output tokens `microUsd` still pay for after `inputTokens` of prompt; may be negative. */
export function affordableOutput(microUsd: number, inputTokens: number, prices: Prices): number {
  if (prices.output === 0) {
    return boundMicroUsd(inputTokens, 0, prices) <= microUsd ? Number.POSITIVE_INFINITY : -1;
  }
  const forOutput = microUsd * TOKENS_PER_PRICE - inputTokens * inputPrice(prices);
  return Math.floor(forOutput / prices.output);
}
