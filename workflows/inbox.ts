/**
 * The inbox of a run or goal: what handlers and finished effects leave for the loop to receive.
 * Invariant: `heed` takes every fact that Temporal delivered together at once, however many async frames an interceptor
 * puts around an activity.
 */
import { condition } from '@temporalio/workflow';
import type { Input } from '../core/state/input.js';
import { isApplied } from './activation.js';

export interface Inbox<I = Input> {
  put(input: I): void;
  /** Everything that has arrived, oldest first; empties the inbox. */
  takeAll(): readonly I[];
  isEmpty(): boolean;
  /**
   * Calls `take` when something is there, and `afterwards` when Temporal has let run all that `take` has begun, again and
   * again, until `take` returns something; resolves with that.
   */
  heed<F>(take: () => F | undefined, afterwards: () => void): Promise<F>;
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
    /**
     * What there is to take is taken while Temporal asks for it, and settles the condition: what was begun with it may fail
     * at once, and whoever waits for what was decided has a condition of their own. Temporal then asks once more.
     */
    async heed<F>(take: () => F | undefined, afterwards: () => void): Promise<F> {
      let taken: F | undefined;
      const hasTaken = (): boolean => {
        if (waiting.length === 0 || !isApplied()) return false;
        taken = take();
        return true;
      };
      while (taken === undefined) {
        await condition(hasTaken);
        afterwards();
      }
      return taken;
    },
  };
}
