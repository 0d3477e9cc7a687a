/** How the pending workflow task of a run ended the last time, as far as its history tells. */
import { bounded, type Link } from '../link.js';
import type { Execution } from '../runs/execution.js';

/** The end of an attempt of a workflow task. */
export interface TaskEnd {
  /** The worker that had the task gave no answer in its time; false: the worker answered that it failed. */
  readonly isLost: boolean;
  readonly reason: string;
  /** ms since epoch. */
  readonly since?: number;
}

const EVENTS_LOOKED_AT = 50;
const REASON_CHARS_MAX = 500;

/**
 * The newest such end in history; later attempts leave no event of their own. Undefined: none is among the newest
 * events.
 */
export async function lastTaskEnd(
  link: Link,
  { runId, executionId }: Pick<Execution, 'runId' | 'executionId'>,
): Promise<TaskEnd | undefined> {
  const { history } = await bounded(link, { runId }, () =>
    link.connection.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: link.namespace,
      execution: { workflowId: runId, runId: executionId },
      maximumPageSize: EVENTS_LOOKED_AT,
    }),
  );
  for (const event of history?.events ?? []) {
    const failed = event.workflowTaskFailedEventAttributes;
    if (!failed && !event.workflowTaskTimedOutEventAttributes) continue;
    const reason = failed
      ? failed.failure?.message || `Temporal names no reason (cause ${failed.cause ?? 0})`
      : 'the workflow task timed out: the worker is gone or too slow';
    return {
      isLost: !failed,
      reason: reason.slice(0, REASON_CHARS_MAX),
      since: Number(event.eventTime?.seconds ?? 0) * 1000,
    };
  }
  return undefined;
}
