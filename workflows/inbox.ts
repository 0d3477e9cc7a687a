/**
 * The inbox of a run or goal: what handlers and finished effects leave for the loop to receive.
 * Invariant: `arrival` ends after every fact that Temporal delivered together with the first one, however many async
 * frames an interceptor puts around an activity.
 */
import { condition } from '@temporalio/workflow';
import type { Input } from '../core/state/input.js';

export interface Inbox<I = Input> {
  put(input: I): void;
  /** Everything that has arrived, oldest first; empties the inbox. */
  takeAll(): readonly I[];
  isEmpty(): boolean;
  /** Resolves when there is something to take. */
  arrival(): Promise<void>;
}

export function createInbox<I = Input>(): Inbox<I> {
  let waiting: I[] = [];
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
    async arrival() {
      await condition(() => waiting.length > 0);
      await settled();
    },
  };
}

/**
 * Resolves when all jobs of the activation have been applied and every promise that they settle has run. Temporal looks
 * at conditions after each job, when the promises that the next jobs settle have not run; of a condition that is
 * made behind the first job it asks again only when the activation has nothing left to run.
 */
function settled(): Promise<void> {
  let isAskedAgain = false;
  return condition(() => {
    const again = isAskedAgain;
    isAskedAgain = true;
    return again;
  });
}
