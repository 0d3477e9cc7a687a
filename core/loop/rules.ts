/**
 * The ordered rules of `advance`: the specification, read top-down. The first that fires decides; the list
 * is tried again from the top until none fires.
 * Invariant: a rule's name stands in the events of its steps: names are added, never altered.
 */
import { arrive } from './arrival.js';
import { releaseSenders } from '../ask/correction.js';
import { escalateAsks } from '../ask/escalation.js';
import { openAsk, closeAsk } from '../ask/open-ask.js';
import { pendingAsks } from '../step/pending.js';
import { afterCalls, awaitsHooks } from '../call/after.js';
import { dispatch } from '../call/dispatch.js';
import { close } from './closing.js';
import { afterCompaction } from '../context/after-compaction.js';
import { makeRoom } from '../context/compaction.js';
import { adoptModel, resolveWanted } from './control.js';
import { openingLimits } from '../step/effect-limits.js';
import { refOf, type ActivityEffect } from '../state/effect.js';
import { flush } from '../step/flush.js';
import { complete } from '../gates/completion.js';
import { afterSampling, notifyFailure } from '../hooks/background.js';
import { cancelAll, flying, nextId, start, startTimer, WORK, type Step } from '../step/inflight.js';
import { breakerTrip } from '../limits/breakers.js';
import { requiredToolGone } from '../limits/required-tools.js';
import { trip } from '../money/budget.js';
import { askForBudget, exceed, questionFor } from '../money/exceed.js';
import { accountForUnheard } from '../money/failed-call.js';
import { emit } from '../step/outbox.js';
import { CONTINUE_AS_NEW_BYTES_MAX, fitsBytes } from '../json/payload-size.js';
import { beginPause, pause } from './pause.js';
import { isOpen, type OpenRun, type Run, type Turn } from '../state/run.js';
import { stop } from '../step/stop.js';
import type { StopPhase } from '../state/result.js';
import { afterModelFailure, isLeftToFallback } from '../turn/model-failure.js';
import { askModel } from '../turn/request.js';
import { storeMessages, storeSome } from '../turn/store-messages.js';
import { allSettled, nextTurn } from '../turn/results.js';
import { isTruncated, recover } from '../turn/truncation.js';
import { watchWallTime } from './wall-time.js';

/** A step, 'hold' when nothing below may fire now, undefined when the rule does not apply. */
export type Rule<R extends Run = OpenRun> = (run: R) => Step | 'hold' | undefined;

/** The rule before all others: `opening`. */
export const OPENING = 'open';

/** Rules of a run that is open, by name. */
export const RULES = [
  named('arrive', arriving),
  named('unheard costs', accountForUnheard),
  named('close', closing),
  named('interrupt', interrupted),
  named('pause', pausing),
  named('segment full', segmentFull),
  named('end of wall time', watchWallTime),
  named('escalate', escalateAsks),
  named('larger budget', askForBudget),
  named('resolve model', resolveWanted),
  named('hooks after reply', sampled),
  named('last word', wrappedUp),
  named('hooks after calls', callsHooked),
  named('calls settled', callsSettled),
  named('dispatch', dispatching),
  named('completion gates', completionGates),
  named('truncation', truncation),
  named('model failure', modelFailed),
  named('after compaction', compactionEnded),
  named('large messages', storing),
  named('adopt model', adopting),
  named('limits', limits),
  named('compaction', compaction),
  named('ask the model', asking),
  named('await the user', awaitingUser),
] as const;

export type RuleName = typeof OPENING | (typeof RULES)[number]['name'];

interface NamedRule<Name extends string> {
  readonly name: Name;
  readonly apply: Rule;
}

function named<Name extends string>(name: Name, apply: Rule): NamedRule<Name> {
  return { name, apply };
}

/** Before everything: each segment begins with `open_run`. */
export function opening(run: Run): Step | 'hold' | undefined {
  if (run.final !== undefined) return 'hold';
  if (run.segment.opened) return isOpen(run) ? undefined : 'hold';
  if (flying(run, ['open_run'])) return run.interrupt === undefined ? 'hold' : giveUpOpening(run);
  return start(run, 'open_run', (id, events): ActivityEffect => ({
    kind: 'open_run',
    id,
    input: {
      v: 1,
      run: refOf(run),
      segment: run.segment.number,
      ...(run.segment.number === 0 && { start: run.start }),
      ...(run.previousExecution !== undefined && { previousExecution: run.previousExecution }),
      events,
    },
    limits: openingLimits(run),
    summary: `${run.start.agent}, segment ${run.segment.number}`,
  }));
}

/** How long an interrupted run may still take to open, so that it ends with its events; ms. */
const OPENING_GRACE_MS = 10_000;

/** A store that cannot be written must not keep a person from stopping the run. */
function giveUpOpening(run: Run): Step | 'hold' {
  if (run.graceTimer === undefined) {
    const graceTimer = nextId(run, 'timer');
    const timed = startTimer(run, { at: run.now + OPENING_GRACE_MS, summary: 'grace of a cancel' });
    return { run: { ...timed.run, graceTimer }, effects: timed.effects };
  }
  if (run.inflight[run.graceTimer] !== undefined) return 'hold';
  const cancelled = cancelAll(run, ['open_run']);
  return cancelled.effects.length > 0 ? cancelled : 'hold';
}

function arriving(run: OpenRun): Step | 'hold' | undefined {
  return run.arrival === undefined ? undefined : arrive(run, run.arrival);
}

function closing(run: OpenRun): Step | 'hold' | undefined {
  return run.stopping === undefined ? undefined : close(run, run.stopping);
}

/** Interrupt and cancel; at the top of the loop a limit that ends the run comes first (C25). */
function interrupted(run: OpenRun): Step | undefined {
  if (run.interrupt === undefined) return undefined;
  const between = run.turn === undefined && !flying(run, ['call_model', 'compact']);
  const tripped = between && !run.idle ? trip(run, 'between_turns') : undefined;
  if (tripped !== undefined && questionFor(run, tripped) === undefined) {
    return only(stop(run, tripped));
  }
  const told = emit(run, { type: 'interruption', by: run.interrupt });
  if (pauses(run)) {
    return only(beginPause(run.idle ? run : told, phaseOf(run)));
  }
  const reason = run.interrupt === 'interrupt' ? 'interrupted' : 'aborted';
  return only(stop(told, reason, { phase: phaseOf(run) }));
}

function phaseOf(run: OpenRun): StopPhase {
  if (flying(run, ['call_model'])) return 'streaming';
  if (run.turn === undefined || run.turn.calls.length === 0) return 'before_model';
  const begun = run.turn.calls.some(
    (call) =>
      ['executing', 'returned', 'doubt'].includes(call.stage) ||
      (call.stage === 'settled' && call.result.started),
  );
  return begun ? 'tools' : 'before_tools';
}

/** A run that says its last word has nothing to come back to. */
function pauses({ interrupt, frozen, wrapUp: last }: OpenRun): boolean {
  return interrupt === 'interrupt' && frozen.settings.interruptMode === 'pause' && !last;
}

function pausing(run: OpenRun): Step | 'hold' | undefined {
  return run.pausing === undefined ? undefined : pause(run, run.pausing);
}

/** No new effect starts in a full segment; when only timers are left, the next one begins. */
function segmentFull(run: OpenRun): Step | 'hold' | undefined {
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

/** The last word is said; calls in it were never on offer. */
function wrappedUp(run: OpenRun): Step | undefined {
  const { wrapUp: last, turn } = run;
  return last?.asked && turn !== undefined ? only(stop(run, last.reason)) : undefined;
}

function sampled(run: OpenRun): Step | undefined {
  return run.turn === undefined ? undefined : afterSampling(run, run.turn);
}

function callsHooked(run: OpenRun): Step | undefined {
  return run.turn === undefined ? undefined : afterCalls(run, run.turn);
}

function callsSettled(run: OpenRun): Step | undefined {
  const { turn } = run;
  if (turn === undefined || turn.calls.length === 0) return undefined;
  const tripped = requiredToolGone(run, turn) ?? breakerTrip(run);
  if (tripped !== undefined) {
    const { reason, ...words } = tripped;
    return only(stop(run, reason, words));
  }
  return allSettled(turn) && !awaitsHooks(run, turn) ? only(nextTurn(run, turn)) : undefined;
}

function dispatching(run: OpenRun): Step | 'hold' | undefined {
  const { turn } = run;
  if (turn === undefined || turn.calls.length === 0) return undefined;
  return dispatch(run, turn) ?? 'hold';
}

function completionGates(run: OpenRun): Step | 'hold' | undefined {
  const { turn } = run;
  return turn === undefined || isTruncated(turn) ? undefined : complete(run, turn);
}

function truncation(run: OpenRun): Step | undefined {
  const turn: Turn | undefined = run.turn;
  return turn === undefined ? undefined : only(recover(run, turn));
}

function modelFailed(run: OpenRun): Step | undefined {
  const { modelFailure } = run;
  if (modelFailure === undefined) return undefined;
  const notified = isLeftToFallback(run, modelFailure)
    ? { run, effects: [] }
    : notifyFailure(run, modelFailure);
  return {
    run: afterModelFailure(notified.run, modelFailure),
    effects: notified.effects,
  };
}

/** What a summary that has come back leads to, before the limits are looked at again (ST-33). */
function compactionEnded(run: OpenRun): Step | undefined {
  const next = afterCompaction(run);
  return next === undefined ? undefined : only(next);
}

/** Before anything would bring messages along that are too large for it. */
function storing(run: OpenRun): Step | 'hold' | undefined {
  return flying(run, ['call_model', 'compact']) ? undefined : storeMessages(run);
}

/** Before the context is looked at: the window of the new model is what counts (G76). */
function adopting(run: OpenRun): Step | 'hold' | undefined {
  if (flying(run, ['call_model', 'compact'])) return undefined;
  const adopted = adoptModel(run);
  return adopted === undefined || adopted === 'hold' ? adopted : only(adopted);
}

function limits(run: OpenRun): Step | 'hold' | undefined {
  if (flying(run, ['call_model', 'compact'])) return 'hold';
  if (run.idle && run.queue.length === 0) return undefined;
  const tripped = trip(run, run.wrapUp === undefined ? 'between_turns' : 'before_restart');
  return tripped === undefined ? undefined : only(exceed(run, tripped));
}

function compaction(run: OpenRun): Step | 'hold' | undefined {
  // A last word is one call: it is not worth a summary.
  if ((run.idle && run.queue.length === 0) || run.wrapUp !== undefined) return undefined;
  return makeRoom(run);
}

/** The next model call; a waiting conversation needs a message first. */
function asking(run: OpenRun): Step | undefined {
  if (!run.idle) return askModel(run);
  if (run.queue.length === 0) return undefined;
  const ask = pendingAsks(run).find((open) => open.kind === 'user_message');
  const closed =
    ask === undefined ? { run, effects: [] } : closeAsk(run, ask.id, { outcome: 'answered' });
  // Nothing refers to the question any more: a conversation of any length keeps none (R1).
  const asks = pendingAsks(closed.run);
  const { paused: _, ...going } = closed.run;
  return { run: { ...going, asks, idle: false }, effects: closed.effects };
}

function awaitingUser(run: OpenRun): Step | 'hold' {
  if (run.closeRequested) return only(stop(run, 'completed', { detail: 'closed' }));
  const ask = pendingAsks(run).find((open) => open.kind === 'user_message');
  if (ask?.elapsed) {
    const closed = closeAsk(run, ask.id, { outcome: 'expired' });
    return { run: nobodyCame(closed.run), effects: closed.effects };
  }
  if (ask !== undefined) return 'hold';
  const id = userAskId(run);
  return openAsk(run, {
    id,
    kind: 'user_message',
    digest: id,
    roles: [],
    quorum: 1,
    expiresInMs: run.frozen.settings.idleTimeoutMs,
    onExpiry: 'stop',
  });
}

/** A run can pause more than once in a turn, never twice after the same request. */
function userAskId({ runId, paused, tally, requests }: OpenRun): string {
  const id = `${runId}:user:${tally.turnCount}`;
  return paused === undefined ? id : `${id}:paused:${requests}`;
}

function nobodyCame(run: OpenRun): OpenRun {
  return run.paused === undefined
    ? stop(run, 'completed', { detail: 'idle' })
    : stop(run, 'interrupted', { phase: run.paused });
}

function only(run: Run): Step {
  return { run, effects: [] };
}
