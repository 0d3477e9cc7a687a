/**
 * The inbox of a run: what handlers and finished effects leave for the loop to receive.
 * Invariant: `arrival` ends after every fact that Temporal delivered together with the first one. Activities
 * and timers report one microtask after their job, and the loop goes on one after that. A signal is handed
 * over in its job, before all others: it lets the loop wait until they have reported as well.
 * (`condition` gives the same and calls into the sandbox once more per task.)
 */
import type { Input } from '../core/input.js';

export interface Inbox {
  /** What an effect brought. */
  put(input: Input): void;
  /** What a handler was given. */
  putFromOutside(input: Input): void;
  /** Everything that has arrived, oldest first; empties the inbox. */
  takeAll(): readonly Input[];
  isEmpty(): boolean;
  /** Resolves when there is something to take. */
  arrival(): Promise<void>;
}

/** More than any effect takes to report after its job. */
const REPORTING_MICROTASKS = 4;

export function createInbox(): Inbox {
  let waiting: Input[] = [];
  let wake: (() => void) | undefined;
  return {
    put(input) {
      waiting.push(input);
      wake?.();
      wake = undefined;
    },
    putFromOutside(input) {
      waiting.push(input);
      if (wake !== undefined) afterMicrotasks(REPORTING_MICROTASKS, wake);
      wake = undefined;
    },
    takeAll() {
      const taken = waiting;
      waiting = [];
      return taken;
    },
    isEmpty: () => waiting.length === 0,
    arrival() {
      return new Promise((resolve) => {
        if (waiting.length > 0) resolve();
        else wake = resolve;
      });
    },
  };
}

function afterMicrotasks(left: number, then: () => void): void {
  if (left === 0) return then();
  void Promise.resolve().then(() => afterMicrotasks(left - 1, then));
}
