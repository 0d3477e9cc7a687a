/**
 * The two functions of a goal's core: `receive(goal, input)` records facts, `advance(goal)` decides by the first rule that
 * fires, again and again until none does (step/advance.ts).
 */
import type { ActivityEffect } from '../state/effect.js';
import { isOpenGoal, type Goal } from '../state/goal/goal.js';
import type { Step } from '../state/run.js';
import { follows } from '../step/changes.js';
import * as step from '../step/advance.js';
import { flying, WORK } from '../step/inflight.js';
import { end, flushGoal } from './ending.js';
import { messageTooLarge } from './heed.js';
import { goalStatusOf } from './result.js';
import { GOAL_OPENING, GOAL_RULES, type GoalRuleName } from './rules.js';

export { receive } from './receive.js';

export type DecidedGoal = step.Decided<Goal, GoalRuleName>;

export function advance(goal: Goal): DecidedGoal {
  return step.advance({ firing, withoutOversized, atRest }, goal);
}

function firing(given: Goal): step.Fired<Goal, GoalRuleName> | undefined {
  if (given.final !== undefined) return undefined;
  const goal = { ...given };
  const opening = step.firstOf(GOAL_OPENING, goal);
  const fired =
    opening !== undefined || !isOpenGoal(goal) ? opening : step.firstOf(GOAL_RULES, goal);
  return fired === 'hold' ? undefined : fired;
}

function withoutOversized(goal: Goal, { kind }: ActivityEffect): Goal | undefined {
  if (!isOpenGoal(goal) || goal.ending !== undefined) return undefined;
  if (kind === 'take_message' && follows(goal, 'messagesBound')) return messageTooLarge(goal);
  return end(goal, { row: 'failure', reason: 'failed', detail: `payload_too_large:${kind}` });
}

/** Events that nothing else will carry are flushed; a changed status is shown. */
function atRest(decided: Step<Goal>): Step<Goal> {
  const flushed = withFlush(decided);
  const status = goalStatusOf(flushed.run);
  if (status === flushed.run.shownStatus) return flushed;
  return {
    run: { ...flushed.run, shownStatus: status },
    effects: [...flushed.effects, { kind: 'status', status }],
  };
}

function withFlush(decided: Step<Goal>): Step<Goal> {
  const { run: goal } = decided;
  const idle = isOpenGoal(goal) && goal.final === undefined && !flying(goal, [...WORK, 'flush']);
  if (!idle || goal.outbox.events.length === 0 || goal.segment.full) return decided;
  const flushed = flushGoal(goal);
  return { run: flushed.run, effects: [...decided.effects, ...flushed.effects] };
}
