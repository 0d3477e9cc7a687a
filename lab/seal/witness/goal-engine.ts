/** Stands in for core/goal/engine.ts in a replay; what it tells is marked, because runs have rules of the same names. */
import { advance as decide, receive as take, type DecidedGoal } from '../../../core/goal/engine.js';
import type { Goal } from '../../../core/state/goal/goal.js';
import type { GoalInput } from '../../../core/state/goal/input.js';
import { OF_GOAL, sawInput, sawRules } from './seen.js';

export function advance(goal: Goal): DecidedGoal {
  const decided = decide(goal);
  sawRules(decided.rules.map((name) => `${OF_GOAL}${name}`));
  return decided;
}

export function receive(goal: Goal, input: GoalInput): Goal {
  sawInput(`${OF_GOAL}${input.type}`);
  return take(goal, input);
}
