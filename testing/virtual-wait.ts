/** A wait in virtual time. */
import type { VirtualClock } from './simulation/index.js';

/** Until so many ms have passed, or the signal. */
export function waitIn(
  clock: Pick<VirtualClock, 'after'>,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}
