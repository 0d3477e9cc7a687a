/** What Temporal knows of a run that has not ended: the history's last events and the activities that are pending. */
import type { WorkflowHandle } from '@temporalio/client';

const EVENTS_SHOWN = 16;

/** Waits for `ended`; when it fails, the error says where the run of `handle` stands. */
export async function orWhereItStands<T>(ended: Promise<T>, handle: WorkflowHandle): Promise<T> {
  try {
    return await ended;
  } catch (error) {
    if (error instanceof Error) error.message += `\n${await standing(handle)}`;
    throw error;
  }
}

async function standing(handle: WorkflowHandle): Promise<string> {
  try {
    const [{ raw }, { events }] = await Promise.all([handle.describe(), handle.fetchHistory()]);
    const { pendingActivities, pendingWorkflowTask } = raw;
    const last = (events ?? []).slice(-EVENTS_SHOWN);
    return JSON.stringify({ pendingActivities, pendingWorkflowTask, last }, undefined, 1);
  } catch (error) {
    return `Temporal does not tell where the run stands: ${String(error)}`;
  }
}
