/** A user's own workflow, in a bundle of its own and with Temporal's default data converter. */
import { workflowInfo } from '@temporalio/workflow';
import { runAgent, type RunResult } from '../../../workflows/index.js';

export async function parent(goal: string): Promise<RunResult> {
  const { workflowId } = workflowInfo();
  return runAgent({ agent: 'desk', task: { goal } }, { runId: `${workflowId}-child` });
}

export async function parentOfNobody(): Promise<RunResult> {
  const { workflowId } = workflowInfo();
  return runAgent({ agent: 'nobody', task: { goal: 'Serve.' } }, { runId: `${workflowId}-child` });
}
