/**
 * How goals and runs watch a child: when it is looked at, and what a look without an outcome means. Pure steps of the
 * child's state; whoever has children says what its outcome means.
 * Invariant: a child that is open has a look ahead of it, or is due.
 */
import type { Carrier } from '../state/carrier.js';
import type { WatchedChild } from '../state/child.js';
import type { Step } from '../state/run.js';
import { cancelTimer, nextId, only, startTimer } from './inflight.js';

export const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** It is there. Of one that was there before is looked at once whether it is the same. */
export function started<C extends WatchedChild>(child: C, existed: boolean): C {
  return { ...child, stage: 'open', due: child.due || existed };
}

/** It says that it has ended. */
export function saidToEnd<C extends WatchedChild>(child: C): C {
  return { ...child, due: true };
}

/** Its timer has fired. */
export function lookedFor<C extends WatchedChild>(child: C): C {
  const { look, ...rest } = child;
  if (look === undefined) return child;
  return { ...rest, due: true, lookedAfterMs: look.afterMs, nextLookMs: look.afterMs } as C;
}

/** It had no outcome yet: the next look is twice as far, an hour at most. */
export function goesOn<C extends WatchedChild>(child: C, waiting: boolean): C {
  const { lookedAfterMs, ...rest } = child;
  return {
    ...rest,
    stage: 'open',
    ...(waiting && { waiting: true as const }),
    nextLookMs: Math.min((lookedAfterMs ?? MINUTE_MS) * 2, HOUR_MS),
  } as C;
}

export interface Watching<R extends Carrier, C extends WatchedChild> extends Step<R> {
  readonly child: C;
}

/** Its next look is timed. */
export function lookLater<R extends Carrier, C extends WatchedChild>(
  run: R,
  child: C,
): Watching<R, C> {
  const afterMs = child.nextLookMs ?? MINUTE_MS;
  const timed = startTimer(run, { at: run.now + afterMs, summary: `look at ${child.child}` });
  return { ...timed, child: { ...child, look: { timer: nextId(run, 'timer'), afterMs } } };
}

/** Its outcome is about to be read: no look is ahead. */
export function closing<R extends Carrier, C extends WatchedChild>(
  run: R,
  child: C,
): Watching<R, C> {
  const { look, ...rest } = child;
  const untimed = look === undefined ? only(run) : cancelTimer(run, look.timer);
  const lookedAfterMs = look?.afterMs ?? child.lookedAfterMs ?? MINUTE_MS;
  return { ...untimed, child: { ...rest, stage: 'closing', due: false, lookedAfterMs } as C };
}
