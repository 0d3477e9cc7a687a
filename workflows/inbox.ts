/**
 * The inbox of a run or goal: what handlers and finished effects leave for the loop to receive.
 * Invariant: `heed` takes every fact that Temporal delivered together at once, however many async frames an interceptor
 * puts around an activity.
 */
import { condition } from '@temporalio/workflow';
import type { Input } from '../core/state/input.js';
import { activation, isApplied } from './activation.js';

export interface Inbox<I = Input> {
  put(input: I): void;
  /** Everything that has arrived, oldest first; empties the inbox. */
  takeAll(): readonly I[];
  isEmpty(): boolean;
  /** Takes what is there, again and again, until something was the last; resolves with that. */
  heed<F>(taker: Taker<F>): Promise<F>;
}

export interface Taker<F> {
  /** Called when something is there; undefined: there will be more. */
  take(): F | undefined;
  /** After `take`: somebody waits for what it has decided, in a condition of their own. */
  isAwaited(): boolean;
  /** For them, when Temporal has let run all that `take` has begun. */
  tell(): void;
}

/** Turns of the engine's promises that pass before what comes behind the last question is taken: it is taken together. */
const FRAMES_BEHIND = 64;

export function createInbox<I = Input>(): Inbox<I> {
  let waiting: I[] = [];
  let behind: (() => void) | undefined;
  return {
    put(input) {
      waiting.push(input);
      behind?.();
    },
    takeAll() {
      const taken = waiting;
      waiting = [];
      return taken;
    },
    isEmpty: () => waiting.length === 0,
    /**
     * What there is to take is taken while Temporal asks for it. Only where somebody waits for it the condition is settled,
     * and Temporal asks all of them once more: each question is a call into the sandbox. Without that nobody asks for what
     * comes behind it in the same activation, as an effect does that fails while it is begun: that is taken without a question.
     */
    heed: <F>({ take, isAwaited, tell }: Taker<F>): Promise<F> =>
      new Promise<F>((resolve, reject) => {
        let taken: F | undefined;
        const isSettled = (): boolean => taken !== undefined || isAwaited();
        const goOn = (): void => {
          tell();
          if (taken !== undefined) resolve(taken);
        };
        const takeBehind = async (): Promise<void> => {
          for (let frame = 0; frame < FRAMES_BEHIND; frame += 1) await Promise.resolve();
          if (waiting.length === 0 || taken !== undefined) return;
          taken = take();
          if (isSettled()) goOn();
        };
        const hasTaken = (): boolean => {
          if (waiting.length === 0 || taken !== undefined || !isApplied()) return false;
          taken = take();
          const at = activation();
          behind = () => {
            if (activation() === at) takeBehind().catch(reject);
          };
          return isSettled();
        };
        const ask = async (): Promise<void> => {
          while (taken === undefined) {
            await condition(hasTaken);
            goOn();
          }
        };
        ask().catch(reject);
      }),
  };
}
