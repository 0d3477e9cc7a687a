/**
 * What Temporal knows of a run's execution, without asking a worker.
 * Invariant: whose a run is says the tenant that it was started for, never its id: after the retention of
 * the namespace an id may be given anew, to anybody.
 */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { AGENT_RUN } from '../workflows/messages.js';
import { HoldfastError } from '../core/errors.js';
import { bounded, type Link } from './link.js';

export interface Execution {
  readonly runId: string;
  /** Temporal's run id of the current segment. */
  readonly executionId: string;
  /** Absent: it was started by something else than this client. */
  readonly tenant?: string;
  readonly closed: boolean;
  readonly status: string;
  /** Attempt of the pending workflow task; above 1 it has failed. 0: none pending. */
  readonly attempt: number;
  readonly activities: readonly PendingActivity[];
}

interface PendingActivity {
  readonly id: string;
  readonly type: string;
  readonly attempt: number;
  readonly lastFailure?: string;
}

export const TENANT = defineSearchAttributeKey('HoldfastTenant', SearchAttributeType.KEYWORD);
const FAILURE_CHARS_MAX = 300;
const ACTIVITIES_MAX = 50;

/** Errors: RunNotFound, also for a workflow that is no agent run. */
export async function executionOf(link: Link, runId: string): Promise<Execution> {
  const described = await bounded(link, { runId }, () =>
    link.temporal.workflow.getHandle(runId).describe(),
  );
  if (described.type !== AGENT_RUN) {
    throw new HoldfastError('RunNotFound', `Workflow ${runId} is not an agent run.`, {
      hint: 'List the runs with `holdfast list`.',
      details: { runId, type: described.type },
    });
  }
  const tenant = described.typedSearchAttributes.get(TENANT);
  const { pendingWorkflowTask, pendingActivities } = described.raw;
  return {
    runId,
    executionId: described.runId,
    ...(tenant !== undefined && { tenant }),
    closed: described.status.name !== 'RUNNING' && described.status.name !== 'PAUSED',
    status: described.status.name,
    attempt: pendingWorkflowTask?.attempt ?? 0,
    activities: (pendingActivities ?? []).slice(0, ACTIVITIES_MAX).map((activity) => ({
      id: activity.activityId ?? '',
      type: activity.activityType?.name ?? '',
      attempt: activity.attempt ?? 1,
      ...(activity.lastFailure?.message && {
        lastFailure: activity.lastFailure.message.slice(0, FAILURE_CHARS_MAX),
      }),
    })),
  };
}

/** The same of a run of the link's own tenant. Errors: RunNotFound, also for a run of another one. */
export async function ownExecution(link: Link, runId: string): Promise<Execution> {
  const execution = await executionOf(link, runId);
  if (execution.tenant === link.tenant) return execution;
  throw new HoldfastError('RunNotFound', `There is no run ${runId}.`, {
    hint: 'List the runs with `holdfast list`.',
    details: { runId },
  });
}
