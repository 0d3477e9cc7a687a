/**
 * What must hold of every run, whatever happens to it. Pure and incremental: a shell feeds
 * each event once, in order, and each step with the run that it came from; both answer with violations
 * in words, none when all is well.
 */
import type { RunEvent } from '../core/state/event.js';
import { BOOKKEEPING_PREDICATES } from './invariants/bookkeeping.js';
import { CALL_PREDICATES } from './invariants/calls.js';
import { ENDING_PREDICATES } from './invariants/ending.js';
import { HOOK_PREDICATES } from './invariants/hooks.js';
import { PARALLEL_PREDICATES } from './invariants/parallel.js';
import { SIZE_PREDICATES } from './invariants/size.js';
import { STARTING_PREDICATES } from './invariants/starting.js';
import type { StepPredicate } from './invariants/step.js';
import { STREAM_PREDICATES } from './invariants/stream.js';
import { TRACE_PREDICATES } from './invariants/trace.js';
import { taken, type EventPredicate, type InvariantState } from './invariants/track.js';
import type { Run, Step } from '../core/state/run.js';

export { startChecking, type InvariantState } from './invariants/track.js';

const EVENT_PREDICATES: readonly EventPredicate[] = [
  ...STREAM_PREDICATES,
  ...CALL_PREDICATES,
  ...TRACE_PREDICATES,
];

/** Judges one event and takes it in. */
export function checkEvent(
  state: InvariantState,
  event: RunEvent,
): { readonly state: InvariantState; readonly violations: readonly string[] } {
  const violations = EVENT_PREDICATES.flatMap((predicate) => {
    const violation = predicate(state, event);
    return violation === undefined ? [] : [`event ${event.stamp.seq} ${event.type}: ${violation}`];
  });
  return { state: taken(state, event), violations };
}

const STEP_PREDICATES: readonly StepPredicate[] = [
  ...STARTING_PREDICATES,
  ...ENDING_PREDICATES,
  ...HOOK_PREDICATES,
  ...BOOKKEEPING_PREDICATES,
  ...PARALLEL_PREDICATES,
  ...SIZE_PREDICATES,
];

/** Judges one step of `advance`: `before` is the run it was given. */
export function checkStep(before: Run, step: Step): readonly string[] {
  return STEP_PREDICATES.flatMap((predicate) => {
    const violation = predicate(before, step);
    return violation === undefined ? [] : [`step: ${violation}`];
  });
}
