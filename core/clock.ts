/**
 * Active and waiting time (C38). Time moves only with inputs.
 * Invariant: activeMs + waitingMs = now − startedAt.
 */
import { left, type Limit } from './budget-fields.js';
import { flying, WORK } from './inflight.js';
import { pendingAsks } from './ask/pending.js';
import type { OpenRun, Run } from './run.js';

/** Moves time to `at`; what lies between counts by what the run was doing. Never backwards. */
export function elapse<R extends Run>(run: R, at: number): R {
  const passed = at - run.now;
  if (passed <= 0) return run;
  const clock = isWaiting(run)
    ? { ...run.clock, waitingMs: run.clock.waitingMs + passed }
    : { ...run.clock, activeMs: run.clock.activeMs + passed };
  return { ...run, now: at, clock };
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
