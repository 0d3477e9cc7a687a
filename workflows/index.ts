/**
 * Public entry `holdfast/workflows`, safe in a user's own workflow bundle: start an agent run as a child,
 * and the messages that it understands.
 */
import { executeChild, type ChildWorkflowOptions } from '@temporalio/workflow';
import type { RunResult } from '../core/state/result.js';
import type { StartInput } from '../core/state/task.js';
import { AGENT_RUN, TASK_QUEUE } from './messages.js';

export * from './messages.js';
export type { RunResult, StartInput };

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
