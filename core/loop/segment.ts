/**
 * The end of a segment: when only timers are left in flight, the next one begins with the run as it is.
 * Invariant: a run is handed on only as far as a payload carries it; what may lie in the store goes there first.
 */
import { releaseSenders } from '../ask/correction.js';
import { CONTINUE_AS_NEW_BYTES_MAX, fitsBytes } from '../json/json.js';
import type { Ruling } from '../step/advance.js';
import { flush, flying, only, WORK } from '../step/inflight.js';
import { emit } from '../step/outbox.js';
import type { OpenRun, Run, Step } from '../state/run.js';
import { stop } from '../step/stop.js';
import { storeSome } from '../turn/store-messages.js';

export function segmentFull(run: OpenRun): Ruling<Run> {
  if (!run.segment.full) return undefined;
  if (flying(run, [...WORK, 'flush'])) return 'hold';
  const told = emit(releaseSenders(run), { type: 'transition', reason: 'continued_as_new' });
  return fitsBytes(told, CONTINUE_AS_NEW_BYTES_MAX)
    ? only({ ...told, final: { kind: 'continue_as_new' } })
    : makeSmaller(run);
}

/** A run that is too large to be handed on: what may lie in the store goes there first. */
function makeSmaller(run: OpenRun): Step {
  if (run.outbox.events.length > 0) return flush(run);
  if (run.pending.length > 0) return storeSome(run);
  return only(
    stop(run, 'failed', {
      detail: 'run_too_large',
      nextSafeAction: 'Start again with a smaller task, or with fewer open questions at a time.',
    }),
  );
}
