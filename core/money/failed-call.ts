/**
 * What a request to a model cost that brought nothing.
 * Invariant: a request that may have left counts, with its whole bound in money and tokens when nobody says
 * what it cost (G25).
 */
import type { Failure } from '../failure.js';
import { addUsage, NO_USAGE, type Usage } from '../model.js';
import type { OpenRun } from '../run.js';
import { settleReservation } from './budget.js';

/** Failures that say by themselves that nothing was sent. */
const BEFORE_ANY_REQUEST: readonly Failure['code'][] = [
  'AuthError',
  'UnknownModel',
  'TranscriptMissing',
  'BudgetExhausted',
];

/** Ends the reservation of a failed effect with what its attempts cost, and counts their tokens. */
export function billFailure(run: OpenRun, effectId: string, failure: Failure): OpenRun {
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
  return { ...settled, tally: { ...run.tally, usage } };
}

function usageOfBound({ inputTokens, outputTokens }: NonNullable<OpenRun['asked']>): Usage {
  return { ...NO_USAGE, input: inputTokens, output: outputTokens };
}

/** A count in data from outside; 0 when it is none. */
export function amount(value: unknown): number {
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
