/**
 * The inbox of a run or goal: what handlers and finished effects leave for the loop to receive.
 * Invariant: `heed` takes every fact that Temporal delivered together at once, however many async frames an interceptor
 * puts around an activity.
 */
import { allHandlersFinished, condition } from '@temporalio/workflow';
import type { Input } from '../core/state/input.js';
import { isLate, isWhole } from './activation.js';

export interface Inbox<I = Input> {
  put(input: I): void;
  /** Everything that has arrived, oldest first; empties the inbox. */
  takeAll(): readonly I[];
  isEmpty(): boolean;
  /** Calls `take` when something is there, again and again, until it returns something; resolves with that. */
  heed<F>(take: () => F | undefined): Promise<F>;
}

export function createInbox<I = Input>(): Inbox<I> {
  let waiting: I[] = [];
  let look = (): void => undefined;
  return {
    put(input) {
      waiting.push(input);
      if (isLate()) void Promise.resolve().then(look);
    },
    takeAll() {
      const taken = waiting;
      waiting = [];
      return taken;
    },
    isEmpty: () => waiting.length === 0,
    heed: <F>(take: () => F | undefined) =>
      new Promise<F>((resolve, reject) => {
        let taken: F | undefined;
        /** Whether Temporal is to ask all conditions again. */
        const isAskedAgain = (): boolean => {
          if (taken === undefined && waiting.length > 0 && isWhole()) {
            taken = take();
            if (taken !== undefined) resolve(taken);
            // A handler may wait for what was decided, and its condition was asked before this one.
            return taken !== undefined || !allHandlersFinished();
          }
          return taken !== undefined;
        };
        look = (): void => {
          try {
            isAskedAgain();
          } catch (error) {
            reject(error as Error);
          }
        };
        const wait = async (): Promise<void> => {
          while (taken === undefined) await condition(isAskedAgain);
        };
        wait().catch(reject);
      }),
  };
}
