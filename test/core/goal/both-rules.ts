/** Goals of the newest rules, each beside a goal of older rules. */
import { count, ScriptedGoal, type GoalScript } from './shell.js';

const BEFORE = 11;
export const DAY_MS = 86_400_000;
export const DONE = count(0, [0]);

/** Under both rules: the goal of the new ones first. */
export function both(script: GoalScript, before = BEFORE): readonly [ScriptedGoal, ScriptedGoal] {
  return [new ScriptedGoal(script), new ScriptedGoal({ ...script, rules: before })];
}

export function ending({ goal: { final } }: ScriptedGoal): string {
  if (final?.kind !== 'result') throw new Error(`no result: ${JSON.stringify(final)}`);
  const { stopReason, detail = '' } = final.result;
  return `${stopReason} ${detail}`;
}

export const inCycle = ({ goal }: ScriptedGoal) => goal.cycle?.stage === 'open';
export const asleep = ({ goal }: ScriptedGoal) =>
  goal.sleep !== undefined && goal.sleep.over !== true;
export const asked = ({ goal }: ScriptedGoal) => goal.asks.length > 0;
export const isApproved = ({ goal }: ScriptedGoal) => goal.proposed.approved !== undefined;
