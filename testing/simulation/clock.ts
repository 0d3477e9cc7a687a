/**
 * Virtual time. It stands still by itself and moves only when somebody fires the next timer.
 * Invariant: timers fire in the order of their time, equal ones in the order in which they were set.
 */
import type { Timers } from '../../activities/index.js';

export interface VirtualClock extends Timers {
  /** ms since epoch. */
  now(): number;
  /** When the next timer is due; undefined when there is none. */
  nextDue(): number | undefined;
  /** Moves to the next timer and fires it; false when there is none. */
  fireNext(): boolean;
}

interface Pending {
  readonly due: number;
  readonly fire: () => void;
}

export function virtualClock(startAt: number): VirtualClock {
  let now = startAt;
  /** Soonest last, so that the next one is taken off the end. */
  const pending: Pending[] = [];

  function insert(timer: Pending): void {
    let index = pending.length;
    // After every timer that is due earlier or at the same time.
    while (index > 0 && pending[index - 1]!.due <= timer.due) index -= 1;
    pending.splice(index, 0, timer);
  }

  return {
    now: () => now,
    after(ms, then) {
      const timer = { due: now + Math.max(0, ms), fire: then };
      insert(timer);
      return () => {
        const index = pending.indexOf(timer);
        if (index >= 0) pending.splice(index, 1);
      };
    },
    nextDue: () => pending.at(-1)?.due,
    fireNext() {
      const timer = pending.pop();
      if (timer === undefined) return false;
      now = timer.due;
      timer.fire();
      return true;
    },
  };
}
