/**
 * `wrapUpTurn` (C42): when turns or tool calls are used up, one last model call without tools says how far the
 * run came.
 * Invariants: there is one such call, and only within money, tokens and time; whatever becomes of it, the run
 * stops for the budget that was used up (`stop.ts` sees to that), unless a person stops it.
 */
import { reached } from '../step/clock.js';
import type { StopReason } from '../state/result.js';
import type { OpenRun } from '../state/run.js';
import { stop } from '../step/stop.js';

const WRAPPED_UP: readonly StopReason[] = ['max_turns', 'max_tool_calls'];

/** A budget is used up: the last call comes first, where there may be one and it has something to say. */
export function endOnBudget(run: OpenRun, reason: StopReason): OpenRun {
  return mayWrapUp(run, reason) ? { ...run, wrapUp: { reason, asked: false } } : stop(run, reason);
}

/** Money and time are looked at where the call is made. */
function mayWrapUp(run: OpenRun, reason: StopReason): boolean {
  const { budget, settings } = run.frozen;
  return (
    settings.wrapUpTurn &&
    run.wrapUp === undefined &&
    WRAPPED_UP.includes(reason) &&
    run.tally.modelCalls > 0 &&
    !reached(run.tally.modelCalls, budget.maxModelCalls)
  );
}
