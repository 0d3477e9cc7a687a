/**
 * The first rules of a segment: `open_run` opens the run, or the run ends for want of it.
 * Invariants: `open_run` is the first effect of each segment; a run that could not be opened has said nothing, so that
 * it ends without events.
 */
import { openingLimits } from '../step/clock.js';
import { refOf, type ActivityEffect, type OpenRunInput } from '../state/effect.js';
import type { Ruling } from '../step/advance.js';
import { cancelAll, flying, nextId, only, start, startTimer } from '../step/inflight.js';
import { resultOf } from './run-result.js';
import { isOpen, type Run } from '../state/run.js';
import { howOpened } from './open-within.js';
import { stop } from '../step/stop.js';

/** The first segment could not be opened: its workflow fails, unless a person had stopped the run meanwhile. */
export function endUnopened(run: Run): Ruling<Run> {
  const { notOpened } = run;
  if (notOpened === undefined) return undefined;
  const { code, message } = notOpened;
  if (!isStoppedUnopened(run)) return only({ ...run, final: { kind: 'refused', code, message } });
  const reason = run.interrupt === 'interrupt' ? 'interrupted' : 'aborted';
  const stopped = stop(run, reason, { phase: 'before_model' });
  const result = resultOf(stopped, stopped.stopping!);
  return only({ ...stopped, final: { kind: 'result', result, cancelled: reason === 'aborted' } });
}

/** A person's stop has cancelled its opening. */
export function isStoppedUnopened({ notOpened, interrupt }: Run): boolean {
  return notOpened?.cancelled === true && interrupt !== undefined;
}

export function opening(run: Run): Ruling<Run> {
  if (run.segment.opened) return isOpen(run) ? undefined : 'hold';
  if (flying(run, ['open_run'])) return run.interrupt === undefined ? 'hold' : giveUpOpening(run);
  return start(run, 'open_run', (id, events): ActivityEffect => {
    const { tried, ...how } = howOpened(run, id, openingLimits(run));
    return {
      kind: 'open_run',
      id,
      input: {
        v: 1,
        run: refOf(run),
        segment: run.segment.number,
        ...(run.segment.number === 0 && run.forked === undefined && { start: run.start }),
        ...handoffOf(run),
        ...(run.previousExecution !== undefined && { previousExecution: run.previousExecution }),
        ...tried,
        events,
      },
      ...how,
      summary: `${run.handoff?.due ? run.handoff.to : run.start.agent}, segment ${run.segment.number}`,
    };
  });
}

/** The other agent is frozen from the start of the run, as far as that is not about the agent before. */
function handoffOf(run: Run): Pick<OpenRunInput, 'start' | 'handoff'> {
  const { handoff, start: own, frozen } = run;
  if (handoff?.due !== true || frozen === undefined) return {};
  const outputSchema = frozen.outputSchema;
  return {
    start: own,
    handoff: {
      handoff,
      head: run.head ?? frozen.prompt.hash,
      ...(outputSchema !== undefined && { outputSchema }),
    },
  };
}

/** How long an interrupted run may still take to open, so that it ends with its events; ms. */
const OPENING_GRACE_MS = 10_000;

/** A store that cannot be written must not keep a person from stopping the run. */
function giveUpOpening(run: Run): Ruling<Run> {
  if (run.graceTimer === undefined) {
    const graceTimer = nextId(run, 'timer');
    const timed = startTimer(run, { at: run.now + OPENING_GRACE_MS, summary: 'grace of a cancel' });
    return { run: { ...timed.run, graceTimer }, effects: timed.effects };
  }
  if (run.inflight[run.graceTimer] !== undefined) return 'hold';
  const cancelled = cancelAll(run, ['open_run']);
  return cancelled.effects.length > 0 ? cancelled : 'hold';
}
