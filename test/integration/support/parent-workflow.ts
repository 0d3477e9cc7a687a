/** A user's own workflow, in a bundle of its own and with Temporal's default data converter. */
import { workflowInfo } from '@temporalio/workflow';
import { runAgent, type RunResult } from '../../../workflows/index.js';

export async function parent(goal: string): Promise<RunResult> {
  const { workflowId } = workflowInfo();
  return runAgent({ agent: 'desk', task: { goal } }, { runId: `${workflowId}-child` });
}

export async function parentOfNobody(): Promise<RunResult> {
  const { workflowId } = workflowInfo();
  // An agent that no worker serves is waited for, a day unless the start says otherwise.
  const settings = { unservedTimeoutMs: 500 };
  const start = { agent: 'nobody', task: { goal: 'Serve.' }, settings };
  return runAgent(start, { runId: `${workflowId}-child` });
}

/** The child has this id. */
export async function parentOf(runId: string): Promise<RunResult> {
  return runAgent({ agent: 'desk', task: { goal: 'Serve.' } }, { runId });
}
