/**
 * What Temporal knows of a run's execution, without asking a worker.
 * Invariant: whose a run is says the tenant that it was started for, never its id: after the retention of
 * the namespace an id may be given anew, to anybody.
 */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { AGENT_RUN, GOAL_RUN } from '../../workflows/messages.js';
import { HoldfastError } from '../../core/state/errors.js';
import { bounded, type Link } from '../link.js';
import { pendingWorkOf, type Look } from '../read/pending-work.js';
import { plainLine } from '../read/plain-line.js';
import { isRefused, waitsOf, type PendingTask, type Wait } from '../read/waits.js';

/** What Temporal knows of a run. */
export interface Execution {
  readonly runId: string;
  /** Absent: a run. */
  readonly kind?: 'goal';
  /** Temporal's run id of the current segment. */
  readonly executionId: string;
  /** Absent: it was started by something else than this client. */
  readonly tenant?: string;
  readonly closed: boolean;
  readonly status: string;
  /** How the run has told Temporal that it stands; absent: nothing. */
  readonly said?: string;
  /** Attempt of the pending workflow task; above 1 it has failed, or was lost with a worker. 0: none pending. */
  readonly attempt: number;
  /** Where that task is; absent: none pending. */
  readonly task?: ExecutionTask;
  readonly activities: readonly ExecutionActivity[];
  /** What it waits for, the longest wait first; empty for one that has ended. */
  readonly waits: readonly Wait[];
}

interface ExecutionTask {
  /** False: it lies in its task queue. */
  readonly isInHand: boolean;
  /** From when on a worker may take it; ms since epoch. */
  readonly dueAt?: number;
}

interface ExecutionActivity {
  readonly id: string;
  readonly type: string;
  readonly attempt: number;
  /** What it does, of one that was lost with a worker: the tool that it calls, for example. */
  readonly summary?: string;
  readonly lastFailure?: string;
  /** Its last attempt was refused before it reached anything: `waits` says for want of what. */
  readonly refused?: true;
  /** Its last attempt was lost with a worker that died, or was too slow to say that it lives. */
  readonly lost?: true;
}

export const TENANT = defineSearchAttributeKey('HoldfastTenant', SearchAttributeType.KEYWORD);
const SAID = defineSearchAttributeKey('HoldfastStatus', SearchAttributeType.KEYWORD);
const FAILURE_CHARS_MAX = 300;
const SUMMARY_CHARS_MAX = 128;

/** Of a run or of a goal. Errors: RunNotFound, also for a workflow that is neither. */
export async function executionOf(link: Link, runId: string, look?: Look): Promise<Execution> {
  const described = await bounded(link, { runId }, () =>
    link.temporal.workflow.getHandle(runId).describe(),
  );
  if (described.type !== AGENT_RUN && described.type !== GOAL_RUN) {
    throw new HoldfastError('RunNotFound', `Workflow ${runId} is not an agent run.`, {
      hint: 'List the runs with `holdfast list`.',
      details: { runId, type: described.type },
    });
  }
  const [tenant, said] = [TENANT, SAID].map((key) => described.typedSearchAttributes.get(key));
  const { name: status } = described.status;
  const closed = isClosed(described);
  const pending = await pendingWorkOf(link, described.raw, look);
  return {
    runId,
    ...(described.type === GOAL_RUN && { kind: 'goal' as const }),
    executionId: described.runId,
    ...(tenant !== undefined && { tenant }),
    closed,
    status,
    ...(said !== undefined && { said }),
    attempt: pending.workflowTask?.attempt ?? 0,
    ...(pending.workflowTask && { task: taskOf(pending.workflowTask) }),
    activities: pending.activities.map((activity) => ({
      id: activity.id,
      type: activity.type,
      attempt: activity.attempt,
      ...(activity.summary !== undefined && {
        summary: plainLine(activity.summary, SUMMARY_CHARS_MAX),
      }),
      ...(activity.failure && {
        lastFailure: plainLine(activity.failure.message, FAILURE_CHARS_MAX),
      }),
      ...(isRefused(activity) && { refused: true as const }),
      ...(activity.failure?.lost && { lost: true as const }),
    })),
    waits: closed ? [] : waitsOf(pending, Date.now()),
  };
}

function taskOf({ isScheduled, dueAt }: PendingTask): ExecutionTask {
  return { isInHand: !isScheduled, ...(dueAt !== undefined && { dueAt }) };
}

function isClosed({ status: { name } }: WorkflowExecutionDescription): boolean {
  return name !== 'RUNNING' && name !== 'PAUSED';
}

/** That nothing with the id goes on although something did. */
export async function isOver(link: Link, id: string, limitMs: number): Promise<boolean> {
  const described = await descriptionOf(link, id, limitMs);
  return described !== undefined && isClosed(described);
}

/** Of whatever has the id; undefined: nothing has it, as far as Temporal knows. */
export async function descriptionOf(
  link: Link,
  id: string,
  limitMs?: number,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await bounded(link, { runId: id, ...(limitMs !== undefined && { limitMs }) }, () =>
      link.temporal.workflow.getHandle(id).describe(),
    );
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'RunNotFound') return undefined;
    throw error;
  }
}

/** The same of a run of the link's own tenant. Errors: RunNotFound, also for a run of another one. */
export async function ownExecution(link: Link, runId: string, look?: Look): Promise<Execution> {
  const execution = await executionOf(link, runId, look);
  if (execution.tenant === link.tenant) return execution;
  throw new HoldfastError('RunNotFound', `There is no run ${runId}.`, {
    hint: 'List the runs with `holdfast list`.',
    details: { runId },
  });
}
