/**
 * `wrapUpTurn` (C42): when turns or tool calls are used up, one last model call without tools says how far the
 * run came.
 * Invariants: there is one such call, and only within money, tokens and time; whatever becomes of it, the run
 * stops for the budget that was used up (`stop.ts` sees to that), unless a person stops it.
 */
import { closeAsk } from './ask/open-ask.js';
import { reached } from './budget-fields.js';
import type { Call } from './call/call.js';
import { refusalOf } from './call/refusal.js';
import { settleCall } from './call/settled.js';
import type { Step } from './inflight.js';
import type { StopReason } from './result.js';
import type { OpenRun } from './run.js';
import { stop } from './stop.js';

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

const NOT_BEGUN: readonly Call['stage'][] = [
  'proposed',
  'checked',
  'hooked',
  'waiting',
  'granted',
  'rechecked',
];

/** What has not begun when the wrap-up does never begins; nobody is asked about it either. */
export function leaveOut(run: OpenRun, call: Call): Step<OpenRun> | undefined {
  if (run.wrapUp === undefined || !NOT_BEGUN.includes(call.stage)) return undefined;
  const message = 'Not executed: a budget of this run is used up.';
  const closed =
    call.stage === 'waiting'
      ? closeAsk(run, call.askId, { outcome: 'withdrawn', reason: 'a budget is used up' })
      : { run, effects: [] };
  const refusal = refusalOf(closed.run, call, { code: 'budget_exceeded', message });
  return { run: settleCall(closed.run, call, refusal), effects: closed.effects };
}
