/**
 * A time limit for a stretch of work on this thread, as Node has one for a script.
 * The SDK sets one for each of its three entries into workflow code; each is a thread that Node starts and ends.
 */
import { createContext, Script } from 'node:vm';

const nothing = (): unknown => undefined;
const frame = { work: nothing };
const context = createContext(frame);
const enter = new Script('work()');

/**
 * Runs `work`, and ends it after `limitMs` wherever it is; it may be within other contexts. What it leaves for later is
 * not limited. Called within a promise's continuation. Errors: `ERR_SCRIPT_EXECUTION_TIMEOUT`, and those of the work.
 */
export function limited<T>(limitMs: number, work: () => T): T {
  frame.work = work;
  try {
    // Node's error points at the one line here, and at none of the work.
    return enter.runInContext(context, { timeout: limitMs, displayErrors: false }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === TIMED_OUT) leaveAsyncFrames();
    throw error;
  } finally {
    frame.work = nothing;
  }
}

const TIMED_OUT = 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/**
 * Work that is ended leaves none of the asynchronous frames that it has entered, and Node aborts a process that ends a
 * callback with one open. Node leaves all of them for an exception that nobody catches; no listener hears of this one.
 */
function leaveAsyncFrames(): void {
  queueMicrotask(() => {
    if (process.hasUncaughtExceptionCaptureCallback()) return;
    process.setUncaughtExceptionCaptureCallback(() =>
      process.setUncaughtExceptionCaptureCallback(null),
    );
    throw new Error('The asynchronous frames of work that was ended are left.');
  });
}
