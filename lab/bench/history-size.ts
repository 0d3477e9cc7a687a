/** Events and bytes of a run's histories on the server. */
import type { Client } from '@temporalio/client';

export interface HistorySize {
  readonly events: number;
  readonly bytes: number;
  readonly segments: number;
}

const SEGMENTS_MAX = 1_000;

/** Adds up the segments of a run, newest first. */
export async function historySize(client: Client, workflowId: string): Promise<HistorySize> {
  let size: HistorySize = { events: 0, bytes: 0, segments: 0 };
  for (const runId of await executionsOf(client, workflowId)) {
    const description = await client.workflow.getHandle(workflowId, runId).describe();
    size = {
      events: size.events + description.historyLength,
      bytes: size.bytes + (description.historySize ?? 0),
      segments: size.segments + 1,
    };
  }
  return size;
}

/** Temporal run ids of a chain of continue-as-new, newest first. */
export async function executionsOf(client: Client, workflowId: string): Promise<readonly string[]> {
  const executions: string[] = [];
  let runId: string | undefined = (await client.workflow.getHandle(workflowId).describe()).runId;
  while (runId !== undefined && executions.length < SEGMENTS_MAX) {
    executions.push(runId);
    runId = await executionBefore(client, { workflowId, runId });
  }
  return executions;
}

async function executionBefore(
  client: Client,
  execution: { readonly workflowId: string; readonly runId: string },
): Promise<string | undefined> {
  // The first event alone: a whole history may be larger than one message.
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: 'default',
    execution,
    maximumPageSize: 1,
  });
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  return started?.continuedExecutionRunId || undefined;
}
