/** Records that a model call failed for good: what it cost, and what is known of why. */
import { follows } from '../step/changes.js';
import { nearTheEnd } from '../step/clock.js';
import { hintOf, type Failure } from '../state/failure.js';
import { amount, billFailure } from '../money/failed-call.js';
import type { OpenRun, Run } from '../state/run.js';
import { retriesIn } from './retries.js';

export function recordModelFailure(run: OpenRun, effectId: string, failure: Failure): Run {
  const billed = billFailure(run, effectId, failure);
  const details = failure.details ?? {};
  if (failure.cancelled || run.stopping !== undefined) return billed;
  const budget = details['budget'];
  const retried = retriesIn(details['retried']);
  const hint = follows(run, 'failureHints') ? hintOf(failure) : undefined;
  return {
    ...billed,
    phase: 'checking_limits',
    modelFailure: {
      code: isSilence(run, failure) ? 'NetworkTimeout' : failure.code,
      message: failure.message,
      attempts: amount(details['attempts']) || (failure.attempts ?? 1),
      outOfTime: failure.timedOut === true && nearTheEnd(run),
      ...(typeof budget === 'string' && { budget }),
      ...(retried.length > 0 && { retried }),
      ...(details['partial'] === true && { partial: true }),
      ...(hint !== undefined && { hint }),
    },
  };
}

/** Its time ran out and nothing answered. An attempt that has failed by itself says what it cost. */
function isSilence(run: OpenRun, { timedOut, code, details }: Failure): boolean {
  const isTold = follows(run, 'ownErrorFirst') && details !== undefined;
  return timedOut === true && code === 'Internal' && !isTold;
}
