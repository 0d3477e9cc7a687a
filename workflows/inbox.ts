/**
 * The inbox of a run: what handlers and finished effects leave for the loop to receive.
 * Invariant: `arrival` ends after every fact that Temporal delivered together with the first one. Temporal looks
 * at conditions when all jobs of an activation have been applied and all promises that they settle have run,
 * however many async frames an interceptor puts around an activity.
 */
import { condition } from '@temporalio/workflow';
import type { Input } from '../core/input.js';

export interface Inbox {
  put(input: Input): void;
  /** Everything that has arrived, oldest first; empties the inbox. */
  takeAll(): readonly Input[];
  isEmpty(): boolean;
  /** Resolves when there is something to take. */
  arrival(): Promise<void>;
}

export function createInbox(): Inbox {
  let waiting: Input[] = [];
  return {
    put(input) {
      waiting.push(input);
    },
    takeAll() {
      const taken = waiting;
      waiting = [];
      return taken;
    },
    isEmpty: () => waiting.length === 0,
    arrival: () => condition(() => waiting.length > 0),
  };
}
