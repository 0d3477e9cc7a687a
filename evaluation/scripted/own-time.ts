/**
 * Code of a configuration that runs in a case of the simulation. While it works, the virtual time of the case stands still;
 * then that time goes on by as much, so that what takes too long meets its own limit and nothing else does.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RealTime } from '../real-time.js';
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
    const over = new AbortController();
    const limit = sleep(limitMs, undefined, { signal: over.signal }).catch(() => undefined);
    await Promise.race([worked.catch(() => undefined), limit]);
    over.abort();
    const tookMs = Math.floor(performance.now() - began);
    await time.except(() => stage.worker().wait(tookMs, signal));
    return time.except(() => worked);
  });
}
