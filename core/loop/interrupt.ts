/**
 * A person's stop: it ends the run, or pauses it (`interruptMode`; C44, G94). A pause ends what is under way as a stop
 * would; then the run waits for its user's next message.
 * Invariants: every call has its result and every question is withdrawn before the run waits; a pause is no
 * answer, so a run that nobody comes back to was interrupted, not completed.
 */
import { withdrawAsks } from '../ask/open-ask.js';
import { endChildren } from '../call/children.js';
import { retireAsks } from '../step/open-work.js';
import { settleRest } from './closing.js';
import { wantedAgain } from '../context/compaction.js';
import { nextQuestion } from '../gates/completion.js';
import { trip } from '../money/budget.js';
import { questionFor } from '../money/exceed.js';
import type { Ruling } from '../step/advance.js';
import { cancelAll, flying, only, UNDER_WAY } from '../step/inflight.js';
import { emit, warn } from '../step/outbox.js';
import type { StopPhase } from '../state/result.js';
import { afterTurn } from '../step/route.js';
import type { Supervision } from '../state/supervision.js';
import type { OpenRun, Run, Step } from '../state/run.js';
import { stop } from '../step/stop.js';

/** `close` ends a conversation that waits for its user when nothing is left to say; it cancels any other run. */
export function heedClose(run: Run): Ruling<Run> {
  if (run.closeAsked === undefined) return undefined;
  const { closeAsked: _, ...rest } = run;
  return only(
    run.idle
      ? { ...rest, closeRequested: true }
      : { ...rest, interrupt: run.interrupt ?? 'cancel' },
  );
}

/** Interrupt and cancel; at the top of the loop a limit that ends the run comes first (C25). */
export function interrupted(run: OpenRun): Ruling<Run> {
  if (run.interrupt === undefined) return undefined;
  const between = run.turn === undefined && !flying(run, ['call_model', 'compact']);
  const tripped = between && !run.idle ? trip(run, 'between_turns') : undefined;
  if (tripped !== undefined && questionFor(run, tripped) === undefined) {
    return only(stop(run, tripped));
  }
  const told = emit(run, { type: 'interruption', by: run.interrupt, ...supervisorIn(run) });
  if (pauses(run)) {
    return only(beginPause(run.idle ? run : told, phaseOf(run)));
  }
  const reason = run.interrupt === 'interrupt' ? 'interrupted' : 'aborted';
  return only(stop(told, reason, { phase: phaseOf(run) }));
}

function supervisorIn({ supervision, frozen }: OpenRun): { readonly supervisor?: string } {
  const name = supervision?.interrupts === true ? frozen.supervisor?.agent.name : undefined;
  return name === undefined ? {} : { supervisor: name };
}

function phaseOf(run: OpenRun): StopPhase {
  if (flying(run, ['call_model'])) return 'streaming';
  if (run.turn === undefined || run.turn.calls.length === 0) return 'before_model';
  const begun = run.turn.calls.some(
    (call) =>
      ['executing', 'delegated', 'returned', 'doubt'].includes(call.stage) ||
      (call.stage === 'settled' && call.result.started),
  );
  return begun ? 'tools' : 'before_tools';
}

/** A run that says its last word has nothing to come back to. */
function pauses({ interrupt, frozen, wrapUp: last }: OpenRun): boolean {
  return interrupt === 'interrupt' && frozen.settings.interruptMode === 'pause' && !last;
}

/** Ends what is under way for a pause, then waits. */
export function pausing(run: OpenRun): Ruling<Run> {
  return run.pausing === undefined ? undefined : pause(run, run.pausing);
}

/** Begins a pause; a run that waits for its user already has nothing to interrupt. */
function beginPause(run: OpenRun, phase: StopPhase): OpenRun {
  const { interrupt: _, supervision, ...others } = run;
  const { interrupts: __, ...watched } = supervision ?? {};
  const rest: OpenRun = {
    ...others,
    ...(supervision !== undefined && { supervision: watched as Supervision }),
  };
  return run.idle
    ? warn(rest, 'input_ignored', 'the run waits for its user already')
    : { ...rest, pausing: phase };
}

/** One step towards waiting; 'hold' while something must come back first. */
function pause(run: OpenRun, phase: StopPhase): Step<OpenRun> | 'hold' {
  const cancelled = cancelAll(run, UNDER_WAY);
  if (cancelled.effects.length > 0) return cancelled;
  const children = endChildren(run, 'interrupt');
  if (children !== undefined) return children;
  if (flying(run, UNDER_WAY)) return 'hold';
  const withdrawn = withdrawAsks(run, 'the run pauses');
  const settled = afterTurn(settleRest(withdrawn.run, { reason: 'interrupted', phase }));
  const retired = wantedAgain(retireAsks(settled, () => true));
  // A budget that is used up is found again when the run goes on.
  const { pausing: _, modelFailure: __, stopHookActive: ___, exceeded: ____, ...rest } = retired;
  const waiting = { ...nextQuestion(rest), early: [], idle: true, paused: phase };
  return { run: waiting, effects: withdrawn.effects };
}
