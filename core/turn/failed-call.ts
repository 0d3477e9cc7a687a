/**
 * Records that a model call failed for good: what it cost, and what is known of why.
 * Invariant: an attempt of which nobody hears again counts as its bound, in money and in tokens (G25).
 */
import { nearTheEnd } from '../clock.js';
import type { Failure } from '../failure.js';
import { addUsage, NO_USAGE, type Usage } from '../model.js';
import { settleReservation } from '../money/budget.js';
import type { OpenRun, Run } from '../run.js';
import { retriesIn } from './retries.js';

/** Failures that say by themselves that nothing was sent. */
const BEFORE_ANY_REQUEST: readonly Failure['code'][] = [
  'AuthError',
  'UnknownModel',
  'TranscriptMissing',
  'BudgetExhausted',
];

export function recordModelFailure(run: OpenRun, effectId: string, failure: Failure): Run {
  const details = failure.details ?? {};
  // Without the activity's word a request may have left and be billed: its whole bound counts.
  const unheard =
    details['lostCostMicroUsd'] === undefined &&
    !failure.cancelled &&
    !BEFORE_ANY_REQUEST.includes(failure.code);
  const lost = unheard ? (run.money.reserved[effectId] ?? 0) : amount(details['lostCostMicroUsd']);
  const { asked, ...settled } = settleReservation(run, effectId, { billed: 0, lost });
  const lostUsage = unheard && asked ? usageOfBound(asked) : usageOf(details['lostUsage']);
  const usage = addUsage(run.tally.usage, lostUsage);
  const billed: OpenRun = { ...settled, tally: { ...run.tally, usage } };
  if (failure.cancelled || run.stopping !== undefined) return billed;
  const budget = details['budget'];
  const retried = retriesIn(details['retried']);
  return {
    ...billed,
    phase: 'checking_limits',
    modelFailure: {
      code: failure.timedOut && failure.code === 'Internal' ? 'NetworkTimeout' : failure.code,
      message: failure.message,
      attempts: amount(details['attempts']) || (failure.attempts ?? 1),
      outOfTime: failure.timedOut === true && nearTheEnd(run),
      ...(typeof budget === 'string' && { budget }),
      ...(retried.length > 0 && { retried }),
      ...(details['partial'] === true && { partial: true }),
    },
  };
}

function usageOfBound({ inputTokens, outputTokens }: NonNullable<Run['asked']>): Usage {
  return { ...NO_USAGE, input: inputTokens, output: outputTokens };
}

function amount(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

function usageOf(value: unknown): Usage {
  if (typeof value !== 'object' || value === null) return NO_USAGE;
  const usage = value as { readonly [key: string]: unknown };
  return {
    input: amount(usage['input']),
    output: amount(usage['output']),
    cacheRead: amount(usage['cacheRead']),
    cacheWrite: amount(usage['cacheWrite']),
  };
}
