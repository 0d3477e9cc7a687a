/**
 * The inbox of a run: what handlers and finished effects leave for the loop to receive.
 * Invariant: `arrival` ends after every fact that Temporal delivered together with the first one. Signals
 * are handed over synchronously, activities and timers one microtask after their job; a signal that comes
 * first must not wake the loop before the others are here, so it goes on MICROTASKS after the first fact.
 * (`condition` gives the same and calls into the sandbox once more per task.)
 */
import type { Input } from '../core/input.js';

export interface Inbox {
  put(input: Input): void;
  /** Everything that has arrived, oldest first; empties the inbox. */
  takeAll(): readonly Input[];
  isEmpty(): boolean;
  /** Resolves when there is something to take. */
  arrival(): Promise<void>;
}

/** More than any fact takes after its job. */
const MICROTASKS = 4;

export function createInbox(): Inbox {
  let waiting: Input[] = [];
  let wake: (() => void) | undefined;
  return {
    put(input) {
      waiting.push(input);
      if (wake !== undefined) afterMicrotasks(MICROTASKS, wake);
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
