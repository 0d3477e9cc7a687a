/**
 * Active and waiting time (C38, G115), and the limits of effects that work. Time moves only with inputs.
 * Invariants:
 *  T1 activeMs + waitingMs = now − startedAt.
 *  T2 Active is the union of what effects worked, as each says with its outcome: its last `workedMs` before it. All
 *     other time is waiting: for people, for a worker, for the store. Time never stops being active.
 *  T3 Limits count work, never the time in which no worker or store was there; only an effect whose attempt may have
 *     claimed is not repeated after a loss (G121).
 */
import type { Limit } from '../state/budget-fields.js';
import type { Carrier, InFlight } from '../state/carrier.js';
import { ACTIVITIES, type EffectLimits } from '../state/effect.js';
import type { Clock, OpenRun, Run, Span } from '../state/run.js';
import { FIRST_RULES, follows } from './changes.js';
import { pendingAsks } from './open-work.js';

/** Moves time to `at`; never backwards. */
export function elapse<R extends Run>(run: R, at: number): R {
  const passed = at - run.now;
  if (passed <= 0) return run;
  const clock =
    follows(run, 'workedTime') || isWaiting(run)
      ? { ...run.clock, waitingMs: run.clock.waitingMs + passed }
      : { ...run.clock, activeMs: run.clock.activeMs + passed };
  return { ...run, now: at, clock };
}

/** Most stretches that are kept: the oldest stay waiting. */
const UNCLAIMED_MAX = 32;

/** An effect that has ended worked for the last `workedMs` before now, at most since it was handed over. */
export function creditWork<R extends Run>(run: R, { since }: InFlight, workedMs: number): R {
  if (since === undefined) return run;
  const oldest = oldestWork(run);
  const { unclaimed = [], judgedTo = Math.min(since, oldest ?? since), ...clock } = run.clock;
  const open: readonly Span[] = [...unclaimed, [Math.min(judgedTo, run.now), run.now]];
  const from = Math.max(since, run.now - workedMs);
  const credited = open.reduce(
    (sum, [start, end]) => sum + Math.max(0, end - Math.max(start, from)),
    0,
  );
  const counted: Clock = {
    ...clock,
    activeMs: clock.activeMs + credited,
    waitingMs: clock.waitingMs - credited,
  };
  if (oldest === undefined) return { ...run, clock: counted };
  const kept = open
    .map(([start, end]): Span => [Math.max(start, oldest), Math.min(end, from)])
    .filter(([start, end]) => start < end)
    .slice(-UNCLAIMED_MAX);
  return { ...run, clock: { ...counted, unclaimed: kept, judgedTo: run.now } };
}

function oldestWork(run: Run): number | undefined {
  const since = [
    ...Object.values(run.inflight).flatMap((entry) => entry.since ?? []),
    // A sub-agent works between the effects that start and read it.
    ...(run.children ?? []).map(({ startedAt }) => startedAt),
  ];
  return since.length === 0 ? undefined : Math.min(...since);
}

/** Only people are waited for: questions are open and nothing works. */
export function isWaiting(run: Run): boolean {
  return run.stopping === undefined && pendingAsks(run).length > 0 && !isWorkedFor(run);
}

function isWorkedFor({ inflight }: Run): boolean {
  return Object.values(inflight).some(
    ({ kind }) => kind !== 'timer' && kind !== 'start_child' && ACTIVITIES[kind].works,
  );
}

/** Most that a desk's clock may be ahead of the run's time, ms (G107). */
const AHEAD_MAX_MS = 60_000;

/** Dated after it came, by more than clocks may differ; both in ms since epoch. */
export function isDatedAhead({ dated, came }: { readonly dated: number; readonly came: number }) {
  return dated > came + AHEAD_MAX_MS;
}

/** A decision that is dated after it came, by more than clocks may differ. */
export function isAhead(
  run: Pick<Carrier, 'rules'>,
  { decision, at }: { readonly decision: { readonly decidedAt: number }; readonly at: number },
): boolean {
  return follows(run, 'clocksAhead') && isDatedAhead({ dated: decision.decidedAt, came: at });
}

/** ms that count against `timeoutMs`. */
export function countedMs(run: OpenRun): number {
  return run.frozen.settings.timeoutCounts === 'wall'
    ? run.now - run.clock.startedAt
    : run.clock.activeMs;
}

export function remainingMs(run: OpenRun): number {
  return left(countedMs(run), run.frozen.budget.timeoutMs);
}

/** An activity that was limited by the run's time ends within this of the run's end. */
const END_TOLERANCE_MS = 1_000;

export function nearTheEnd(run: OpenRun): boolean {
  return remainingMs(run) <= END_TOLERANCE_MS;
}

/** The shorter of a work's own limit and the run's remaining time. */
export function boundByTime(run: OpenRun, ownMs: Limit): { totalMs?: number; byRun: boolean } {
  const remaining = remainingMs(run);
  const own = ownMs === 'unlimited' ? Number.POSITIVE_INFINITY : ownMs;
  const total = Math.min(own, remaining);
  if (!Number.isFinite(total)) return { byRun: false };
  return { totalMs: Math.max(1, Math.ceil(total)), byRun: remaining <= own };
}

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

/** True when `used` has reached the limit (`>=`). */
export function reached(used: number, limit: Limit): boolean {
  return limit !== 'unlimited' && used >= limit;
}

/** What is left of a limit; Infinity when there is none. Never negative. */
export function left(used: number, limit: Limit): number {
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Math.max(0, limit - used);
}
