/** The activities of goals, by the names that the workflow calls them. */
import type { GoalActivityKind, InputOf, OutputOf } from '../../core/state/effect.js';
import type { ActivityDeps } from '../deps.js';
import type { Scope } from '../scope.js';
import { askJudge } from './ask-judge.js';
import { runCheck } from './run-check.js';

type GoalActivities = {
  readonly [Kind in GoalActivityKind]: (
    deps: ActivityDeps,
    scope: Scope,
    input: InputOf<Kind>,
  ) => Promise<OutputOf<Kind>>;
};

export const GOAL_ACTIVITIES = {
  run_check: runCheck,
  ask_judge: askJudge,
} as GoalActivities;
