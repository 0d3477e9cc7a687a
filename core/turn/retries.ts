/**
 * The attempts of one model call, told after it: an activity cannot tell the run anything before it ends.
 * Invariant: one logical call, however many attempts; what an activity says of them is bounded here.
 */
import type { RetriedAttempt } from '../state/effect.js';
import { emit } from '../step/outbox.js';
import type { OpenRun } from '../state/run.js';

const RETRIES_TOLD_MAX = 40;
const CLASS_CHARS_MAX = 64;

export function tellRetries(run: OpenRun, retried: readonly RetriedAttempt[] = []): OpenRun {
  return retried
    .slice(0, RETRIES_TOLD_MAX)
    .reduce<OpenRun>((next, one) => emit(next, { type: 'retry', call: run.requests, ...one }), run);
}

/** The same from the details of a failure, which may hold anything. */
export function retriesIn(details: unknown): readonly RetriedAttempt[] {
  if (!Array.isArray(details)) return [];
  return (details as readonly unknown[]).slice(0, RETRIES_TOLD_MAX).flatMap((one) => {
    if (typeof one !== 'object' || one === null) return [];
    const { attempt, class: name } = one as { readonly [key: string]: unknown };
    const known = Number.isSafeInteger(attempt) && typeof name === 'string';
    return known ? [{ attempt: attempt as number, class: name.slice(0, CLASS_CHARS_MAX) }] : [];
  });
}
