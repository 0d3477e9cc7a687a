/**
 * Code of a configuration that runs in a case of the simulation. While it works, the virtual time of the case stands still;
 * then that time goes on by as much, so that what takes too long meets its own limit and nothing else does.
 */
import { settledOrOver, type RealTime } from '../real-time.js';
import type { Stage } from './stage.js';

export interface OwnTime {
  readonly time: RealTime;
  readonly stage: Stage;
}

/** `limitMs` is that of the work itself: the case waits no longer for it. Absent `own`: the engine's time is real. */
export async function inOwnTime<T>(
  own: OwnTime | undefined,
  { limitMs, signal }: { readonly limitMs: number; readonly signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  if (own === undefined) return work();
  const { time, stage } = own;
  return time.during(async () => {
    const began = performance.now();
    const worked = work();
    await settledOrOver(worked, limitMs);
    const tookMs = Math.floor(performance.now() - began);
    await time.except(() => stage.worker().wait(tookMs, signal));
    return time.except(() => worked);
  });
}
