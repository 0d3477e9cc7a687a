/**
 * A replaying worker runs workflow code on the thread of its caller, and for its stack traces it leaves a hook on
 * every promise of the process behind: from then on a promise costs twenty times as much, in a process of tests
 * all that follow.
 * Invariant: without a replay under way there is no hook.
 */
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared';

let replays = 0;

/** Tells that a replay begins; call what it returns when it has ended. */
export function promiseHooks(): () => void {
  replays += 1;
  return () => {
    replays -= 1;
    // The next replay installs it again.
    if (replays === 0) globalHandlers.uninstall();
  };
}
