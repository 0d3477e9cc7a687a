/** What was worked for is not thrown away because the store is: its write waits as long as the delivery may last. */
import { isStoreAway } from '../store/away.js';
import type { ActivityDeps } from './deps.js';
import type { Scope } from './scope.js';
import { pause, timersOf } from './timers.js';

const STORE_PAUSE_MS = 500;

/** Writes, again and again while the store cannot be reached. Errors: those of `write`. */
export async function writePatiently<T>(
  deps: ActivityDeps,
  scope: Scope,
  write: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isStoreAway(error) || !(await pause(timersOf(deps), STORE_PAUSE_MS, scope.signal)))
        throw error;
    }
  }
}
