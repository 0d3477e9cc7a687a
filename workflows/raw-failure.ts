/** Translates what a failed activity throws into the engine-neutral facts of `core/state/failure`. */
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { RawFailure } from '../core/state/failure.js';

function lastHeartbeatOf({ lastHeartbeatDetails }: TimeoutFailure): unknown {
  return Array.isArray(lastHeartbeatDetails) ? lastHeartbeatDetails[0] : lastHeartbeatDetails;
}

/** Temporal words one and the same timeout in several ways. */
function ranOut(failure: TimeoutFailure): RawFailure {
  const { timeoutType } = failure;
  return {
    message: `ran out of time: ${timeoutType}`,
    timedOut: true,
    timeoutType,
    progress: lastHeartbeatOf(failure),
  };
}

/** Of work within a task, whose own failures come as they are. */
export function rawLocalFailure(error: unknown): RawFailure {
  // A replay reads it from its marker as it is; while the run goes on it comes within an ActivityFailure.
  if (error instanceof TimeoutFailure) return ranOut(error);
  if (!(error instanceof ApplicationFailure)) return rawFailure(error);
  return { type: error.type ?? null, message: error.message, details: error.details?.[0] };
}

/** Rethrows what is not a Temporal failure: that is a bug, and fails the workflow task. */
export function rawFailure(error: unknown): RawFailure {
  if (error instanceof CancelledFailure) return { message: error.message, cancelled: true };
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  if (cause instanceof CancelledFailure) return { message: cause.message, cancelled: true };
  if (cause instanceof TimeoutFailure) return ranOut(cause);
  if (cause instanceof ApplicationFailure) {
    return {
      type: cause.type ?? null,
      message: cause.message,
      details: cause.details?.[0],
      ...(error.retryState === 'TIMEOUT' && { timedOut: true }),
    };
  }
  return { message: error.message };
}
