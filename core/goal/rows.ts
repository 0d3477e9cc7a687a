/**
 * How a goal ends: the rows of goals.md §6, the first that matches.
 * Invariants: `done` needs a goal at rest; a row only names an end, and a pass carries it out (ending.ts).
 */
import { STOP_MEANINGS } from '../step/stop.js';
import type { EndingRow, OpenGoal, RowName } from '../state/goal/goal.js';
import type { StopReason } from '../state/result.js';
import { isDone } from './conditions.js';
import { leftOf, nextSlice } from './money.js';

type Test = (goal: OpenGoal) => EndingRow | undefined;

/** Cycles in a row after which a check that gave nothing ends the goal. */
const UNKNOWN_CYCLES_MAX = 3;

const row = (name: RowName, reason: StopReason, detail?: string): EndingRow => ({
  row: name,
  reason,
  ...(detail !== undefined && { detail }),
});

/** Cancel, stop and deadline do not wait for a pass (rules.ts). */
const ROWS: readonly Test[] = [
  (goal) => (isDone(goal) ? row('done', 'completed', 'done_condition') : undefined),
  (goal) =>
    goal.objectiveValid?.valid === false
      ? row('objective_invalid', goal.terms.stopRules.objectiveInvalid, 'objective_invalid')
      : undefined,
  unavailable,
  refused,
  deadline,
  usedUp,
  blocked,
  failed,
  noProgress,
  (goal) =>
    goal.plan.steps > 0 && goal.plan.open === 0
      ? row('plan_exhausted', 'needs_human', 'plan_exhausted')
      : undefined,
];

export function firstRow(goal: OpenGoal): EndingRow | undefined {
  for (const test of ROWS) {
    const found = test(goal);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Rows before which people are asked for their word (goals.md §2), and that a person may lift. */
const LATE: readonly RowName[] = ['blocked', 'failed', 'no_progress', 'plan_exhausted'];

export function isLate({ row: name }: EndingRow): boolean {
  return LATE.includes(name);
}

function unavailable({ checks, streaks }: OpenGoal): EndingRow | undefined {
  const gone = Object.entries(checks).find(
    ([, { unknownCycles }]) => unknownCycles >= UNKNOWN_CYCLES_MAX,
  );
  if (gone !== undefined) return row('tool_unavailable', 'tool_unavailable', `check ${gone[0]}`);
  return streaks.unserved === undefined
    ? undefined
    : row('tool_unavailable', 'tool_unavailable', streaks.unserved);
}

function refused({ proposed }: OpenGoal): EndingRow | undefined {
  return proposed.approvalRow === undefined
    ? undefined
    : row('approval', 'needs_human', `approval_${proposed.approvalRow}`);
}

export function deadline(goal: OpenGoal): EndingRow | undefined {
  const { deadlineMs } = goal.terms.budget;
  if (deadlineMs === 'unlimited' || goal.now < goal.startedAt + deadlineMs) return undefined;
  return row('deadline', 'timeout', 'deadline');
}

/** Money, tokens, calls, cycles. */
export function usedUp(goal: OpenGoal): EndingRow | undefined {
  if (nextSlice(goal) === undefined || goal.streaks.starved) return row('money', 'max_cost');
  if (leftOf(goal, 'maxInputTokens') <= 0) return row('tokens', 'max_input_tokens');
  if (leftOf(goal, 'maxOutputTokens') <= 0) return row('tokens', 'max_output_tokens');
  if (leftOf(goal, 'maxModelCalls') <= 0) return row('calls', 'max_turns', 'max_model_calls');
  if (leftOf(goal, 'maxToolCalls') <= 0) return row('calls', 'max_tool_calls');
  return leftOf(goal, 'maxCycles') <= 0 ? row('cycles', 'max_turns', 'max_cycles') : undefined;
}

function blocked({ streaks, terms }: OpenGoal): EndingRow | undefined {
  return streaks.blocked >= terms.stopRules.blockedCycles
    ? row('blocked', 'needs_human', 'blocked')
    : undefined;
}

function failed({ streaks, terms }: OpenGoal): EndingRow | undefined {
  return streaks.failed >= terms.stopRules.failedCycles
    ? row('failed', 'needs_human', streaks.failedBecause)
    : undefined;
}

function noProgress({ streaks, terms }: OpenGoal): EndingRow | undefined {
  return streaks.noProgress >= terms.stopRules.noProgressCycles
    ? row('no_progress', 'needs_human', 'no_progress')
    : undefined;
}

/** What a person should do now. */
export function nextActionOf({ reason }: EndingRow): string | undefined {
  return STOP_MEANINGS[reason].next;
}
