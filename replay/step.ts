/**
 * Steps: what a run's workflow code did, in one form for both sides of the comparison: read from a history,
 * and from the commands of a replay.
 * Invariant: equal steps have equal canonical JSON; what no code decides (times, ids of the server) is in none.
 */
import type { Json } from '../core/json/json.js';
import type { JsonObject } from '../recording/history.js';

export type StepKind =
  | 'activity'
  | 'activity_cancel'
  | 'local_activity'
  | 'timer'
  | 'timer_cancel'
  | 'child'
  | 'signal'
  /** Another workflow is asked to stop. */
  | 'cancel'
  | 'search_attributes'
  | 'update_reply'
  | 'continue_as_new'
  | 'result'
  | 'failure'
  | 'cancelled';

export interface Step {
  readonly kind: StepKind;
  /** Activity id, timer number, child's workflow id, update id; '' where a run has one only. */
  readonly id: string;
  readonly value: JsonObject;
}

export interface RecordedStep extends Step {
  readonly eventId: number;
  /** Which code decided it, as its worker named itself. */
  readonly code: string | undefined;
}

/** A policy without its defaults is another policy: the server writes them out. */
export function retryPolicy(policy: {
  readonly initialMs: number;
  readonly maximumMs: number;
  readonly coefficient: number;
  readonly maximumAttempts: number;
  readonly nonRetryable: readonly Json[];
}): JsonObject {
  const initialMs = policy.initialMs || 1_000;
  return {
    initialMs,
    maximumMs: policy.maximumMs || initialMs * 100,
    coefficient: policy.coefficient || 2,
    maximumAttempts: policy.maximumAttempts,
    nonRetryable: policy.nonRetryable,
  };
}

export interface ActivityTimeouts {
  readonly scheduleToCloseMs: number;
  readonly scheduleToStartMs: number;
  readonly startToCloseMs: number;
  readonly heartbeatMs: number;
}

/**
 * Timeouts as the server writes them down: those that are not given follow from the others, and none is
 * longer than the execution may be (0: no limit).
 */
export function recordedTimeouts(given: ActivityTimeouts, runMs: number): JsonObject {
  const total = given.scheduleToCloseMs || runMs;
  const atMost = (ms: number, limitMs: number): number =>
    limitMs > 0 ? Math.min(ms, limitMs) : ms;
  const limitMs = given.scheduleToCloseMs > 0 ? total : 0;
  const toStart = atMost(given.scheduleToStartMs || total, limitMs);
  const toClose = atMost(given.startToCloseMs || total, limitMs);
  return {
    scheduleToCloseMs: atMost(total, runMs),
    scheduleToStartMs: atMost(toStart, runMs),
    startToCloseMs: atMost(toClose, runMs),
    heartbeatMs: Math.min(atMost(given.heartbeatMs, runMs), atMost(toClose, runMs)),
  };
}
