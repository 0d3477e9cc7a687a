/**
 * How an activity ends without a result: refused before it reached anything, to be tried again, or for good.
 * Invariants: a refusal waits, whatever the limits of the work are, and ends nothing; a failure that another attempt
 * would not mend within the time of the work is final and says that time ran out.
 */
import { CancelledFailure, type ApplicationFailure } from '@temporalio/common';
import { RETRY_BACKOFF } from '../core/state/effect.js';
import type { ErrorCode } from '../core/state/errors.js';
import { now, type ActivityDeps } from './deps.js';
import { detailsOf, toFailure, withFacts } from './failure.js';
import { TRIES_MAX, type Lacking } from './progress.js';
import type { Scope } from './scope.js';

/** What passes when a worker with the code, or the right store, is there again. */
const ABSENCES: ReadonlySet<string> = new Set<ErrorCode>([
  'NotServed',
  'StoreUnavailable',
  'TranscriptMissing',
  'WrongStore',
]);

/** Another worker may take the next delivery at once, and runs of older rules are not refused so. */
const LACKS: ReadonlyMap<string, Lacking> = new Map<ErrorCode, Lacking>([
  ['NotServed', 'code'],
  ['TranscriptMissing', 'transcript'],
]);

/** What a model or a tool said: the pause before the next attempt is one that it asked for. */
const ANSWERS: ReadonlySet<string> = new Set<ErrorCode>([
  'NetworkTimeout',
  'Overloaded',
  'RateLimited',
  'ServerError',
  'ToolRetryable',
]);

const REFUSAL_PAUSE_MS_MIN = 500;
const REFUSAL_PAUSE_MS_MAX = 60_000;
/** A refused delivery comes again after this share of the time that it has waited. */
const REFUSAL_SHARE = 1 / 4;

/** The form in which an error leaves the activity; the next delivery is told what this one did. */
export function leaving(
  deps: ActivityDeps,
  scope: Scope,
  { error, workMs }: { readonly error: unknown; readonly workMs: number | undefined },
): ApplicationFailure | CancelledFailure {
  const failed = toFailure(error);
  if (failed instanceof CancelledFailure) return failed;
  const { type } = failed;
  if (type != null && ABSENCES.has(type) && !scope.work.reached)
    return refusal(deps, scope, failed);
  const workedMs = scope.work.ms();
  const { claimed } = scope.work.soFar();
  const details = {
    ...detailsOf(failed),
    workedMs,
    ...(claimed !== undefined && { claimed }),
  };
  if (failed.nonRetryable) return withFacts(failed, { details, retryable: false });
  const pauseMs =
    failed.nextRetryDelay === undefined ? backoffMs(scope.attempt) : Number(failed.nextRetryDelay);
  const asked = type != null && ANSWERS.has(type) ? pauseMs : 0;
  if (workMs !== undefined && workedMs + asked >= workMs) {
    return withFacts(failed, { details: { ...details, timedOut: true }, retryable: false });
  }
  if (scope.work.earlier.tries + 1 >= TRIES_MAX)
    return withFacts(failed, { details, retryable: false });
  scope.leave(scope.work.left({ refused: false, pauseMs: asked }));
  return withFacts(failed, { details, retryable: true, retryAfterMs: pauseMs });
}

function refusal(deps: ActivityDeps, scope: Scope, failed: ApplicationFailure): ApplicationFailure {
  const waitingSince = scope.work.waitingSince();
  const lacks = LACKS.get(failed.type ?? '');
  scope.leave(scope.work.left({ refused: lacks ?? true, pauseMs: 0 }));
  const share = Math.round((now(deps) - waitingSince) * REFUSAL_SHARE);
  // Where deliveries are counted (runs of older rules), they last no shorter than Temporal's own pauses would make them.
  const backoff = lacks === 'code' ? 0 : backoffMs(scope.attempt + scope.work.earlier.refused);
  const retryAfterMs = Math.min(
    REFUSAL_PAUSE_MS_MAX,
    failed.nextRetryDelay === undefined ? REFUSAL_PAUSE_MS_MAX : Number(failed.nextRetryDelay),
    Math.max(REFUSAL_PAUSE_MS_MIN, share, backoff),
  );
  const details = { ...detailsOf(failed), waitingSince };
  return withFacts(failed, { details, retryable: true, retryAfterMs });
}

function backoffMs(attempt: number): number {
  const { initialMs, coefficient, maximumMs } = RETRY_BACKOFF;
  return Math.min(initialMs * coefficient ** (attempt - 1), maximumMs);
}
