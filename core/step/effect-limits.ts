/**
 * Limits of effects that work for a run: how long one attempt may take, and all of them together.
 * Invariant: limits count work, never the time in which no worker or store was there (G115); only an effect whose
 * attempt may have claimed is not repeated after a loss (G121).
 */
import type { Limit } from '../state/budget-fields.js';
import { FIRST_RULES, follows } from './changes.js';
import { boundByTime } from './clock.js';
import type { EffectLimits } from '../state/effect.js';
import type { OpenRun, Run } from '../state/run.js';

export interface Work {
  /** One attempt, ms. */
  readonly attemptMs: number;
  /** All attempts; 'unlimited': only the run's time limits them. */
  readonly ownMs: Limit;
  readonly heartbeatMs: number;
  /** Deliveries under rules without `workedTime`. */
  readonly deliveriesMax: number;
  /** What a lost attempt may have done is found out, not done again. */
  readonly once?: boolean;
}

export interface WorkLimits {
  readonly limits: EffectLimits;
  /** For the activity, which refuses an attempt when its work has used this up; absent: no limit. */
  readonly workMs?: number;
  /** The run's remaining time is what limits it. */
  readonly byRun: boolean;
}

export function workLimits(run: OpenRun, work: Work): WorkLimits {
  const { attemptMs, ownMs, heartbeatMs, deliveriesMax, once = false } = work;
  const { totalMs, byRun } = boundByTime(run, ownMs);
  if (!follows(run, 'workedTime')) {
    const maximumAttempts = once ? 1 : deliveriesMax;
    const limits = {
      attemptMs,
      ...(totalMs !== undefined && { totalMs }),
      heartbeatMs,
      maximumAttempts,
    };
    return { limits, byRun };
  }
  const limits = {
    attemptMs: Math.min(attemptMs, totalMs ?? attemptMs),
    heartbeatMs,
    maximumAttempts: 0,
    ...(once && { once: true as const }),
  };
  return { limits, ...(totalMs !== undefined && { workMs: totalMs }), byRun };
}

/**
 * Of work on the store, which is waited for; under rules without `workedTime` these limits as they are. A worker
 * that died with it is noticed by its heartbeats.
 */
export function storeWork(run: Run, older: EffectLimits): EffectLimits {
  if (!follows(run, 'workedTime')) return older;
  const heartbeatMs = run.frozen?.settings.heartbeatMs.repeatable;
  return {
    attemptMs: older.attemptMs,
    ...(heartbeatMs !== undefined && { heartbeatMs }),
    maximumAttempts: 0,
  };
}

/** Before its settings are known a run has no heartbeat timeout of its own; ms. */
const OPENING_HEARTBEAT_MS = 10_000;

/** Of the activity that each segment begins with. */
export function openingLimits(run: Run): EffectLimits {
  const limits = storeWork(run, { attemptMs: 60_000, maximumAttempts: 0 });
  const begun = { rules: run.begunWith ?? FIRST_RULES };
  if (run.frozen !== undefined || !follows(begun, 'heardOpening')) return limits;
  return { ...limits, heartbeatMs: OPENING_HEARTBEAT_MS };
}
