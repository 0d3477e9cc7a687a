/** What somebody has said is delivered, also when the server is away for a moment. */
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../core/state/errors.js';

const OUTAGE_LIMIT_MS = 60_000;
const OUTAGE_PAUSE_MS = 500;

/** Does it again while the server cannot be reached; it is to be the same each time. `signal` ends the patience. */
export async function overOutages(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + OUTAGE_LIMIT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isOutage = error instanceof HoldfastError && error.code === 'ServerUnavailable';
      if (!isOutage || signal.aborted || performance.now() > deadline) throw error;
      await sleep(OUTAGE_PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
