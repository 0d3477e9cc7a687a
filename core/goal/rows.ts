/**
 * How a goal ends: the rows of goals.md §6, the first that matches.
 * Invariants: `done` needs a goal at rest; a row only names an end, and a pass carries it out (ending.ts).
 */
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

interface Row {
  /** When it matches, for people who do not know the code. */
  readonly says: string;
  /** Stop reason and detail, as people read them. */
  readonly result: string;
  readonly test: Test;
}

/** The first that matches ends the goal. A cancel, a stop and the deadline do not wait for a pass (rules.ts). */
export const ROWS: readonly Row[] = [
  {
    says: 'The condition of `done` holds, and the goal is at rest.',
    result: '`completed`, `done_condition`',
    test: (goal) => (isDone(goal) ? row('done', 'completed', 'done_condition') : undefined),
  },
  {
    says: 'A person, or the reviewer where no person has said otherwise, says that the objective is not valid any more.',
    result: '`needs_human` or `completed`, `objective_invalid`',
    test: objectiveInvalid,
  },
  {
    says: 'A check gave nothing in three cycles in a row, or code was served by nobody for `unavailableMs`.',
    result: '`tool_unavailable`',
    test: unavailable,
  },
  {
    says: 'A person refused the next cycle, or nobody approved it in time.',
    result: '`needs_human`, `approval_rejected` or `approval_timeout`',
    test: refused,
  },
  { says: 'The deadline has passed.', result: '`timeout`, `deadline`', test: deadline },
  {
    says: 'Money, tokens, model calls, tool calls or cycles are used up, in this order; money already when no cycle can begin with its least, or when a cycle ended at its money without a request.',
    result:
      '`max_cost`; `max_input_tokens`, `max_output_tokens`; `max_turns` with `max_model_calls`; `max_tool_calls`; `max_turns` with `max_cycles`',
    test: usedUp,
  },
  {
    says: '`blockedCycles` cycles in a row were blocked by the same kind at the same step.',
    result: '`needs_human`, `blocked`',
    test: blocked,
  },
  {
    says: '`failedCycles` cycles in a row failed.',
    result: '`needs_human`, detail of the newest',
    test: failed,
  },
  {
    says: '`noProgressCycles` cycles in a row made no progress.',
    result: '`needs_human`, `no_progress`',
    test: noProgress,
  },
  {
    says: 'Every step of the plan is done or dropped, and the condition of `done` does not hold.',
    result: '`needs_human`, `plan_exhausted`',
    test: ({ plan }) =>
      plan.steps > 0 && plan.open === 0
        ? row('plan_exhausted', 'needs_human', 'plan_exhausted')
        : undefined,
  },
];

export function firstRow(goal: OpenGoal): EndingRow | undefined {
  for (const { test } of ROWS) {
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

function objectiveInvalid({ objectiveValid, terms, streaks, proposed }: OpenGoal) {
  if (objectiveValid?.valid !== false) return undefined;
  // A person has refused to clear what is in doubt: that is no completion.
  const isUnclear = streaks.doubt > 0 && proposed.approvalRow !== undefined;
  const reason = isUnclear ? 'needs_human' : terms.stopRules.objectiveInvalid;
  return row('objective_invalid', reason, 'objective_invalid');
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
