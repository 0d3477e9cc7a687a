/**
 * The end of a segment: when only timers are left in flight, the next one begins with the run as it is.
 * Invariant: a run is handed on only as far as a payload carries it; what may lie in the store goes there first.
 */
import { dropWaiting } from '../ask/await-keys.js';
import { releaseSenders } from '../ask/correction.js';
import { isStartingChildren } from '../call/children.js';
import { CONTINUE_AS_NEW_BYTES_MAX, fitsBytes } from '../json/json.js';
import type { Ruling } from '../step/advance.js';
import { flush, flying, only, WORK } from '../step/inflight.js';
import { emit } from '../step/outbox.js';
import { follows } from '../step/changes.js';
import { pendingAsks } from '../step/open-work.js';
import type { UnprovenDecision } from '../state/ask.js';
import type { InFlight } from '../state/carrier.js';
import type { OpenRun, Run, Step } from '../state/run.js';
import { stop } from '../step/stop.js';
import { storeSome } from '../turn/store-messages.js';

/** Of one segment, from which on its replay lets a person wait who answers: about thirty turns, or 380 events. */
const EFFECTS_REPLAYED_MAX = 64;
/** For what is told when the segment ends. */
const TOLD_BYTES_MAX = 4_096;

/**
 * Of a run at rest: people may take long, and a worker that has forgotten the run replays its segment. A segment that has
 * done nothing since it began is short, so that a run goes over once for each stretch of work.
 */
export function waitAnew(run: OpenRun): Ruling<OpenRun> {
  const { segment, nextEffect, outbox, inflight, children = [] } = run;
  const isLong = nextEffect - (segment.firstEffect ?? 1) >= EFFECTS_REPLAYED_MAX;
  if (!isLong || !follows(run, 'waitsAnew') || segment.full || run.stopping !== undefined)
    return undefined;
  // Temporal tells the end of a sub-agent to the segment that started it.
  const isAtWork = children.length > 0 || Object.values(inflight).some(isNoTimer);
  if (isAtWork || outbox.events.length > 0 || pendingAsks(run).length === 0) return undefined;
  return fitsBytes(run, CONTINUE_AS_NEW_BYTES_MAX - TOLD_BYTES_MAX)
    ? only({ ...run, segment: { ...segment, full: true } })
    : undefined;
}

function isNoTimer({ kind }: InFlight): boolean {
  return kind !== 'timer';
}

export function segmentFull(run: OpenRun): Ruling<Run> {
  if (!run.segment.full) return undefined;
  if (isStartingChildren(run)) return 'hold';
  if (flying(run, [...WORK, 'flush'])) return waitsInVain(run) ? only(refuseWaiting(run)) : 'hold';
  const told = emit(releaseAll(run), { type: 'transition', reason: 'continued_as_new' });
  return fitsBytes(told, CONTINUE_AS_NEW_BYTES_MAX)
    ? only({ ...told, final: { kind: 'continue_as_new' } })
    : makeSmaller(run);
}

/** Nobody waits over the end of a segment. */
function releaseAll(run: OpenRun): OpenRun {
  const released = releaseSenders(run);
  return run.keyWait === undefined ? released : refuseWaiting(released);
}

/** No keys are fetched any more, and what is under way may take long. */
function waitsInVain(run: OpenRun): boolean {
  const { waiting = [] } = run.keyWait ?? {};
  return waiting.some(hears) && !flying(run, ['fetch_keys']);
}

function hears({ ticket }: UnprovenDecision): boolean {
  return ticket !== undefined;
}

function refuseWaiting(run: OpenRun): OpenRun {
  const message = 'this run does not know the key that it is signed with';
  return dropWaiting(run, { reason: 'unknown_key', message }, hears);
}

/** A run that is too large to be handed on: what may lie in the store goes there first. */
function makeSmaller(run: OpenRun): Step {
  if (run.outbox.events.length > 0) return flush(run);
  if (run.pending.length > 0) return storeSome(run);
  if ((run.keyWait?.waiting.length ?? 0) > 0) return only(dropWaiting(run, TOO_LARGE));
  return only(
    stop(run, 'failed', {
      detail: 'run_too_large',
      nextSafeAction: 'Start again with a smaller task, or with fewer open questions at a time.',
    }),
  );
}

/** What nobody has proven does not end a run. */
const TOO_LARGE = {
  reason: 'busy',
  message: 'this run is too large to keep it while the keys of the desk are fetched; decide again',
} as const;
