/**
 * Runs that do not get on: a workflow task that keeps failing (a bug, or a worker too old), an activity that keeps
 * being retried, or something that the run waits for (a worker, the store) and that does not come. All of them wait for
 * a fix and lose nothing, so somebody must be told.
 */
import { bounded, type Link } from '../link.js';
import { executionOf, type Execution } from '../runs/execution.js';
import { lastTaskEnd } from './task-end.js';
import { visibilityQuery } from './visibility-query.js';

/** A run that does not get on: since when, and why. */
export interface StuckRun {
  readonly runId: string;
  readonly kind: 'workflow_task' | 'activity' | 'waiting';
  /** Of what waits: how often it was tried so far. */
  readonly attempt: number;
  /** ms since epoch of the first failure in a row, or since when it waits, as far as that is known. */
  readonly since?: number;
  readonly reason: string;
  /** The activity that is retried, or that waits. */
  readonly activity?: string;
  /** What that activity does, where attempts at it were lost with workers: the tool that it calls, for example. */
  readonly summary?: string;
  /** Its workflow task did not fail: a worker that had it died, or was too slow. */
  readonly lost?: true;
  /** What a run of the kind `waiting` waits for. */
  readonly waitsFor?: string;
}

/** Attempts of an activity before it is worth a line. */
const ACTIVITY_ATTEMPTS = 3;
const TRIED_AGAIN = { isLost: false, reason: 'its workflow task is being tried again' };
/** What a run waits for may take this long to come back before it is worth a line; ms. */
const WAIT_MS = 60_000;
const RUNS_MAX = 1_000;

export interface StuckQuery {
  /** How many runs are looked at, at most. */
  readonly limit: number;
  /** Runs of all tenants: for whoever operates the server. Default: of the client's own. */
  readonly allTenants?: boolean;
}

export async function stuckRuns(link: Link, query: StuckQuery): Promise<readonly StuckRun[]> {
  const stuck: StuckRun[] = [];
  for (const runId of await runningIds(link, query)) {
    const execution = await executionOf(link, runId).catch(() => undefined);
    if (execution === undefined || execution.closed) continue;
    stuck.push(...(await troublesOf(link, execution)));
  }
  return stuck;
}

async function runningIds(
  link: Link,
  { limit, allTenants = false }: StuckQuery,
): Promise<readonly string[]> {
  const most = Math.min(limit, RUNS_MAX);
  return bounded(link, {}, async () => {
    const ids: string[] = [];
    const equalTo = {
      ExecutionStatus: 'Running',
      HoldfastTenant: allTenants ? undefined : link.tenant,
    };
    const query = visibilityQuery(equalTo, 'both');
    for await (const { workflowId } of link.temporal.workflow.list({ query, pageSize: 200 })) {
      ids.push(workflowId);
      if (ids.length >= most) break;
    }
    return ids;
  });
}

async function troublesOf(link: Link, execution: Execution): Promise<readonly StuckRun[]> {
  const { runId, attempt, activities } = execution;
  const retried = activities
    .filter((one) => one.attempt >= ACTIVITY_ATTEMPTS && one.lastFailure && one.refused !== true)
    .map((activity) => ({
      runId,
      kind: 'activity' as const,
      attempt: activity.attempt,
      activity: activity.type,
      ...(activity.summary !== undefined && { summary: activity.summary }),
      reason: activity.lastFailure ?? '',
    }));
  const others = [...retried, ...waitingTooLong(execution, Date.now())];
  if (attempt <= 1) return others;
  const { isLost, ...end } = (await lastTaskEnd(link, execution)) ?? TRIED_AGAIN;
  return [
    { runId, kind: 'workflow_task', attempt, ...end, ...(isLost && { lost: true as const }) },
    ...others,
  ];
}

/** What the run has waited for so long that it does not come back by itself. */
export function waitingTooLong(
  { runId, waits }: Pick<Execution, 'runId' | 'waits'>,
  now: number,
): readonly StuckRun[] {
  return waits
    .filter(({ since }) => now - since > WAIT_MS)
    .map(({ for: waitsFor, since, attempts, activity, message }) => ({
      runId,
      kind: 'waiting',
      attempt: attempts,
      since,
      waitsFor,
      reason: message ?? `it waits for ${waitsFor}`,
      ...(activity !== undefined && { activity }),
    }));
}
