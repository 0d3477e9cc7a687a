/** `holdfast goal`: objectives that outlive a run. */
import type { Command } from 'commander';
import type { Cli } from '../../command.js';
import { addGoalList } from './list.js';
import { addGoalPlan } from './plan.js';
import { addGoalBrief, addGoalLog, addGoalShow, addGoalWatch } from './show.js';
import { addGoalCheck, addGoalRestart, addGoalStart } from './start.js';
import { addGoalWords } from './tell.js';

export function addGoal(program: Command, cli: Cli): void {
  const goal = program
    .command('goal')
    .description(
      'Goals: objectives that need many runs. Each piece of work is a cycle, a run of its own; between cycles the goal checks, reviews, sleeps and asks, and believes evidence alone.',
    );
  for (const add of [addGoalStart, addGoalCheck, addGoalList, addGoalShow, addGoalWatch]) {
    add(goal, cli);
  }
  for (const add of [addGoalLog, addGoalBrief, addGoalPlan, addGoalWords, addGoalRestart]) {
    add(goal, cli);
  }
}
