/** What Temporal knows of a run's execution, without asking a worker. */
import { AGENT_RUN } from '../workflows/messages.js';
import { HoldfastError } from '../core/errors.js';
import { bounded, type Link } from './link.js';

export interface Execution {
  readonly runId: string;
  /** Temporal's run id of the current segment. */
  readonly executionId: string;
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
  const { pendingWorkflowTask, pendingActivities } = described.raw;
  return {
    runId,
    executionId: described.runId,
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
