/** The time that a request to a model has. */
import type { Limited } from '../core/state/effect.js';
import type { ActivityDeps } from './deps.js';
import { follower } from './follower.js';
import { leftFor } from './progress.js';
import type { Scope } from './scope.js';
import { timersOf } from './timers.js';

export interface TimeLimit {
  /** Aborts on the scope's signal, and when the time is over. */
  readonly signal: AbortSignal;
  /** The time alone has ended the request. */
  isOver(): boolean;
  end(): void;
}

/** Of one request: what is left of the time that its call may work. */
export function timeLimit(
  deps: ActivityDeps,
  { signal, work }: Scope,
  { workMs }: Limited,
): TimeLimit {
  if (workMs === undefined) return { signal, isOver: () => false, end: () => undefined };
  const request = follower(signal);
  let isOver = false;
  const leftMs = leftFor({ ownMs: workMs, workMs }, work);
  const end = timersOf(deps).after(leftMs, () => {
    if (signal.aborted) return;
    isOver = true;
    request.abort();
  });
  return { signal: request.signal, isOver: () => isOver, end };
}

/** What a call says whose time is over. */
export function lateMessage({ workMs }: Limited): string {
  return `The model did not answer within the ${workMs} ms that it has.`;
}
