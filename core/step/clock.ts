/**
 * Active and waiting time (C38, G115). Time moves only with inputs.
 * Invariants:
 *  T1 activeMs + waitingMs = now − startedAt.
 *  T2 Active is the union of what effects worked, as each says with its outcome: its last `workedMs` before it. All
 *     other time is waiting: for people, for a worker, for the store. Time never stops being active.
 */
import { left, type Limit } from '../state/budget-fields.js';
import { follows } from './changes.js';
import { flying, WORK } from './inflight.js';
import { pendingAsks } from './pending.js';
import type { InFlight } from '../state/carrier.js';
import type { Clock, OpenRun, Run, Span } from '../state/run.js';

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
  const since = Object.values(run.inflight).flatMap((entry) => entry.since ?? []);
  return since.length === 0 ? undefined : Math.min(...since);
}

/** Only people are waited for: questions are open and nothing works. */
export function isWaiting(run: Run): boolean {
  return run.stopping === undefined && pendingAsks(run).length > 0 && !flying(run, WORK);
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
