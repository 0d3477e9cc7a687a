/**
 * An interrupt that pauses instead of stopping (C44, G94): what is under way ends as it would for a stop, then
 * the run waits for its user's next message.
 * Invariants: every call has its result and every question is withdrawn before the run waits; a pause is no
 * answer, so a run that nobody comes back to was interrupted, not completed.
 */
import { withdrawAsks } from '../ask/open-ask.js';
import { retireAsks } from '../step/pending.js';
import { settleRest } from './closing.js';
import { wantedAgain } from '../context/compaction.js';
import { nextQuestion } from '../gates/completion.js';
import { cancelAll, flying, UNDER_WAY, type Step } from '../step/inflight.js';
import { warn } from '../step/outbox.js';
import type { StopPhase } from '../state/result.js';
import { afterTurn } from '../step/route.js';
import type { OpenRun } from '../state/run.js';

/** Begins a pause; a run that waits for its user already has nothing to interrupt. */
export function beginPause(run: OpenRun, phase: StopPhase): OpenRun {
  const { interrupt: _, ...rest } = run;
  return run.idle
    ? warn(rest, 'input_ignored', 'the run waits for its user already')
    : { ...rest, pausing: phase };
}

/** One step towards waiting; 'hold' while something must come back first. */
export function pause(run: OpenRun, phase: StopPhase): Step<OpenRun> | 'hold' {
  const cancelled = cancelAll(run, UNDER_WAY);
  if (cancelled.effects.length > 0) return cancelled;
  if (flying(run, UNDER_WAY)) return 'hold';
  const withdrawn = withdrawAsks(run, 'the run pauses');
  const settled = afterTurn(settleRest(withdrawn.run, { reason: 'interrupted', phase }));
  const retired = wantedAgain(retireAsks(settled, () => true));
  // A budget that is used up is found again when the run goes on.
  const { pausing: _, modelFailure: __, stopHookActive: ___, exceeded: ____, ...rest } = retired;
  const waiting = { ...nextQuestion(rest), early: [], idle: true, paused: phase };
  return { run: waiting, effects: withdrawn.effects };
}
