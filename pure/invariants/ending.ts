/**
 * What must hold of the ways in which a run is ended or held up: interrupts, its time, its last word.
 * A part of the invariants.
 */
import { isOpen, type Run, type Step } from '../../core/state/run.js';
import { NEW_WORK, started, type StepPredicate } from './step.js';

export const ENDING_PREDICATES: readonly StepPredicate[] = [
  nothingStartsAfterInterrupt,
  wallTimeIsWatched,
  lastWordIsOneCall,
];

/** A run that pauses may ask again at once, when its user's next message is there already. */
function nothingStartsAfterInterrupt(before: Run, step: Step): string | undefined {
  if (before.interrupt === undefined || before.frozen?.settings.interruptMode === 'pause')
    return undefined;
  const late = started(step).find((effect) => NEW_WORK.includes(effect.kind));
  return late && `${late.id} starts although the run was interrupted`;
}

function wallTimeIsWatched(_before: Run, { run }: Step): string | undefined {
  if (!isOpen(run) || run.stopping !== undefined || run.final !== undefined) return undefined;
  // A person is being asked for more time.
  if (run.exceeded?.reason === 'timeout') return undefined;
  const { budget, settings } = run.frozen;
  const waits = run.asks.some((ask) => ask.outcome === 'pending');
  if (!waits || settings.timeoutCounts !== 'wall' || budget.timeoutMs === 'unlimited')
    return undefined;
  const end = run.clock.startedAt + budget.timeoutMs;
  const watched = Object.values(run.inflight).some(
    (entry) => entry.kind !== 'timer' || (entry.at !== undefined && entry.at <= end),
  );
  return watched ? undefined : 'nothing ends this run when its time is up';
}

function lastWordIsOneCall(before: Run, step: Step): string | undefined {
  if (step.run.wrapUp === undefined) return undefined;
  for (const effect of started(step)) {
    // The call that used the budget up may have begun in this very step, before those that are beyond it.
    const isBefore = effect.kind === 'execute_tool' && before.wrapUp === undefined;
    if ((effect.kind === 'execute_tool' && !isBefore) || effect.kind === 'compact')
      return `${effect.id} starts while the run wraps up`;
    if (effect.kind !== 'call_model') continue;
    if (before.wrapUp?.asked) return `${effect.id} is a second last word`;
    // Absent: all that the run has, which may be none.
    const offers = effect.input.offered?.length ?? step.run.frozen?.tools.length;
    if (offers !== 0) return `${effect.id} offers tools for a last word`;
  }
  return undefined;
}
