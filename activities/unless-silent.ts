/**
 * Attempts that have reached nothing yet speak to the store alone, and a store that is silent must hold nobody up.
 * Invariants: when the run wants the attempt no more it ends at once, and shortly before its time runs out it is refused,
 * so that the run is told what it waits for; what it had begun with finds its signal aborted and reaches nothing more.
 */
import { CancelledFailure } from '@temporalio/common';
import { HoldfastError } from '../core/state/errors.js';
import { follower } from './follower.js';
import type { Scope } from './scope.js';
import { MACHINE_TIMERS } from './timers.js';

/** For a store that answers: what an attempt says of itself is worth more than that it was left. */
const CANCEL_GRACE_MS = 1_000;
/** Of the time of an attempt, kept for telling that it is refused. */
const TELLING_SHARE = 1 / 10;
const TELLING_MS_MAX = 2_000;

export function unlessSilent<T>(scope: Scope, perform: (scope: Scope) => Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const pending: (() => void)[] = [];
    let isOver = false;
    const leave = (why: () => Error): void => {
      if (scope.work.reached || scope.work.claimed) return;
      end();
      reject(why());
      left.abort();
    };
    const onStop = (): void => {
      if (isOver || !scope.stopRequested()) return;
      pending.push(MACHINE_TIMERS.after(CANCEL_GRACE_MS, () => leave(unwanted)));
    };
    const end = (): void => {
      isOver = true;
      for (const cancel of pending) cancel();
    };
    const { limitMs } = scope;
    if (limitMs !== undefined) {
      const ms = limitMs - Math.min(TELLING_MS_MAX, limitMs * TELLING_SHARE);
      pending.push(MACHINE_TIMERS.after(ms, () => leave(() => silent(ms))));
    }
    const left = follower(scope.signal, onStop);
    perform({ ...scope, signal: left.signal })
      .then(resolve, reject)
      .finally(end);
  });
}

function unwanted(): CancelledFailure {
  return new CancelledFailure('The run wants this no more, and the store has not answered.');
}

function silent(ms: number): HoldfastError {
  const seconds = Math.round(ms / 100) / 10;
  return new HoldfastError('StoreUnavailable', `The store did not answer within ${seconds} s.`, {
    hint: 'See what holds it up with `holdfast doctor`.',
  });
}
