/**
 * `wrapUpTurn` (C42, G104): when a budget ends the run and one more request fits the others, one last model call without
 * tools says how far the run came.
 * Invariants: there is one such call, never beyond the turns of the run, and only within money, tokens and time; whatever
 * becomes of it, the run stops for the budget that was used up (`stop.ts` sees to that), unless a person stops it.
 */
import { nearTheEnd, reached } from '../step/clock.js';
import { follows } from '../step/changes.js';
import type { StopReason } from '../state/result.js';
import type { OpenRun } from '../state/run.js';
import { stop } from '../step/stop.js';
import { fitRequest, trip } from './budget.js';

const WRAPPED_UP: readonly StopReason[] = [
  'max_tool_calls',
  'timeout',
  'max_cost',
  'max_input_tokens',
  'max_output_tokens',
];
/** Under rules without `wrapUpFits`. */
const WRAPPED_UP_BEFORE: readonly StopReason[] = ['max_turns', 'max_tool_calls'];

/** A budget is used up: the last call comes first, where there may be one and it has something to say. */
export function endOnBudget(run: OpenRun, reason: StopReason): OpenRun {
  return mayWrapUp(run, reason) ? { ...run, wrapUp: { reason, asked: false } } : stop(run, reason);
}

function mayWrapUp(run: OpenRun, reason: StopReason): boolean {
  const { settings } = run.frozen;
  if (!settings.wrapUpTurn || run.wrapUp !== undefined || run.tally.modelCalls === 0) return false;
  return follows(run, 'wrapUpFits')
    ? WRAPPED_UP.includes(reason) && fits(run)
    : mayWrapUpBefore(run, reason);
}

/** One request more, without tools. A prompt that is too long for the model fits nothing. */
function fits(run: OpenRun): boolean {
  const isTooLong = run.compactions?.current !== undefined;
  if (isTooLong || nearTheEnd(run) || trip(run, 'last_word') !== undefined) return false;
  return !('misfit' in fitRequest(run));
}

/** Money and time are looked at where the call is made. */
function mayWrapUpBefore(run: OpenRun, reason: StopReason): boolean {
  const { maxModelCalls } = run.frozen.budget;
  return WRAPPED_UP_BEFORE.includes(reason) && !reached(run.tally.modelCalls, maxModelCalls);
}
