/** The activities of goals, by the names that the workflow calls them. */
import type { GoalActivityKind, InputOf, OutputOf } from '../../core/state/effect.js';
import type { ActivityDeps } from '../deps.js';
import type { Scope } from '../scope.js';
import { askJudge } from './ask-judge.js';
import { closeCycle } from './close-cycle.js';
import { findTick } from './find-tick.js';
import { openGoal } from './open-goal.js';
import { prepareCycle } from './prepare-cycle.js';
import { saveCheckpoint } from './save-checkpoint.js';
import { takeMessage } from './take-message.js';
import { runCheck } from './run-check.js';

type GoalActivities = {
  readonly [Kind in GoalActivityKind]: (
    deps: ActivityDeps,
    scope: Scope,
    input: InputOf<Kind>,
  ) => Promise<OutputOf<Kind>>;
};

export const GOAL_ACTIVITIES: GoalActivities = {
  open_goal: openGoal,
  prepare_cycle: prepareCycle,
  close_cycle: closeCycle,
  run_check: runCheck,
  ask_judge: askJudge,
  save_checkpoint: saveCheckpoint,
  take_message: takeMessage,
  find_tick: findTick,
};
