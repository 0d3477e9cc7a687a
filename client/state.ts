/** Asking a run for its state: a query, which only a worker can answer. */
import type { AskView } from '../core/event.js';
import type { RunView } from '../core/view.js';
import { pendingApprovals, state } from '../workflows/messages.js';
import { bounded, WORKER_LIMIT_MS, type Link } from './link.js';

/** Errors: RunNotFound; ServerUnavailable when no worker answers in time. */
export function readState(link: Link, runId: string, limitMs = WORKER_LIMIT_MS): Promise<RunView> {
  return bounded(link, { runId, limitMs, needsWorker: true }, () =>
    link.temporal.workflow.getHandle(runId).query(state),
  );
}

export function readAsks(link: Link, runId: string): Promise<readonly AskView[]> {
  return bounded(link, { runId, limitMs: WORKER_LIMIT_MS, needsWorker: true }, () =>
    link.temporal.workflow.getHandle(runId).query(pendingApprovals),
  );
}
