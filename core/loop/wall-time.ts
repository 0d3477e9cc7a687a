/**
 * `timeoutCounts: 'wall'` (C38): the run's end comes whatever it waits for.
 * Invariant: with an end in sight, a timer is armed for that end from the start on. Under rules without
 * `workedTime` it is armed only while a question is open, because the limits of the work itself end the rest.
 */
import { pendingAsks } from '../step/open-work.js';
import { follows } from '../step/changes.js';
import { countedMs, reached } from '../step/clock.js';
import {
  cancelAll,
  cancelTimer,
  flying,
  nextId,
  startTimer,
  UNDER_WAY,
  only,
} from '../step/inflight.js';
import { exceed } from '../money/exceed.js';
import type { OpenRun, Step } from '../state/run.js';
import { stop } from '../step/stop.js';

export function watchWallTime(run: OpenRun): Step<OpenRun> | 'hold' | undefined {
  const { budget, settings } = run.frozen;
  if (settings.timeoutCounts !== 'wall' || budget.timeoutMs === 'unlimited') return undefined;
  const waits = follows(run, 'workedTime') || pendingAsks(run).length > 0;
  if (waits && reached(countedMs(run), budget.timeoutMs)) return timeIsUp(run);
  const { endTimer, ...rest } = run;
  const armed = endTimer !== undefined && run.inflight[endTimer] !== undefined;
  if (waits === armed) return undefined;
  if (armed) return cancelTimer(rest, endTimer);
  const at = run.clock.startedAt + budget.timeoutMs;
  const timed = startTimer(rest, { at, summary: 'the run ends' });
  return { run: { ...timed.run, endTimer: nextId(run, 'timer') }, effects: timed.effects };
}

/** Where a person may allow more (G91) they are asked, unless a question about a budget is open already. */
function timeIsUp(run: OpenRun): Step<OpenRun> | 'hold' | undefined {
  if (run.exceeded?.reason === 'timeout') return undefined;
  if (follows(run, 'workedTime') && flying(run, UNDER_WAY)) {
    const cancelled = cancelAll(run, UNDER_WAY);
    return cancelled.effects.length > 0 ? cancelled : 'hold';
  }
  const next = run.exceeded === undefined ? exceed(run, 'timeout') : stop(run, 'timeout');
  return only(next);
}
