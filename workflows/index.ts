/**
 * Public entry `holdfast/workflows`, safe in a user's own workflow bundle: start an agent run or a goal as a child,
 * and the messages that they understand.
 */
import { executeChild, type ChildWorkflowOptions } from '@temporalio/workflow';
import type { GoalDefinition, GoalStart } from '../core/state/goal/definition.js';
import type { RunResult } from '../core/state/result.js';
import type { StartInput } from '../core/state/task.js';
import { AGENT_RUN, GOAL_RUN, TASK_QUEUE } from './messages.js';

export * from './messages.js';
export type { GoalDefinition, GoalStart, RunResult, StartInput };

export interface RunAgentOptions extends Pick<
  ChildWorkflowOptions,
  'parentClosePolicy' | 'workflowRunTimeout'
> {
  /** The run id, which is the child's workflow id. */
  readonly runId: string;
  /** Task queue of the Holdfast worker; default `holdfast`. */
  readonly taskQueue?: string;
}

/**
 * Runs an agent as a child workflow on the Holdfast worker and waits for its result. A stop that is not a
 * completion is a result too, not an exception; only a run that could not be opened throws. An agent that no worker
 * serves is waited for, a day unless `settings.unservedTimeoutMs` says otherwise.
 */
export function runAgent(
  input: Omit<StartInput, 'v'>,
  options: RunAgentOptions,
): Promise<RunResult> {
  const { runId, taskQueue = TASK_QUEUE, ...rest } = options;
  return executeChild<(start: StartInput) => Promise<RunResult>>(AGENT_RUN, {
    ...rest,
    workflowId: runId,
    // An id is used once: a second run under it would carry the first one's keys.
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    taskQueue,
    args: [{ v: 1, ...input }],
  });
}

export interface RunGoalOptions extends Omit<RunAgentOptions, 'runId'> {
  /** The goal's id, which is the child's workflow id: a run id of at most 96 characters. */
  readonly goalId: string;
}

/**
 * Works on a goal as a child workflow on the Holdfast worker and waits for its result, which may take months. A goal
 * that ends without being done has a result too; only one that could not be opened throws. Plan, measurements and
 * reviews are in the store, and `result.goal.memory` is their hash. With `parentClosePolicy: 'ABANDON'` the goal outlives
 * the workflow that started it.
 */
export function runGoal(input: Omit<GoalStart, 'v'>, options: RunGoalOptions): Promise<RunResult> {
  const { goalId, taskQueue = TASK_QUEUE, ...rest } = options;
  return executeChild<(start: GoalStart) => Promise<RunResult>>(GOAL_RUN, {
    ...rest,
    workflowId: goalId,
    // An id is used once: a second goal under it would carry the first one's cycles.
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    taskQueue,
    args: [{ v: 1, ...input }],
  });
}
