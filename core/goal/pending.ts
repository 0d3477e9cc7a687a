/** Questions of a goal that are open. */
import type { Ask } from '../state/ask.js';
import type { Goal } from '../state/goal/goal.js';
import type { AskPurpose } from '../state/goal/terms.js';

export function pendingOf(goal: Goal): readonly Ask[] {
  return goal.asks.filter(({ outcome }) => outcome === 'pending');
}

/** An open question for this. */
export function pendingFor(goal: Goal, kind: AskPurpose['kind']): Ask | undefined {
  return pendingOf(goal).find(({ id }) => goal.purposes[id]?.kind === kind);
}

/** Neither in a cycle nor in a pass, and not ending. */
export function isResting(goal: Goal): boolean {
  return goal.pass === undefined && goal.cycle === undefined && goal.ending === undefined;
}
