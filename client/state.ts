/** Asking a run for its state: a query, which only a worker can answer. */
import type { OpenAsk, RunView } from '../core/view.js';
import { pendingApprovals, state } from '../workflows/messages.js';
import { askWorker } from './ask-worker.js';
import type { Link } from './link.js';

/** Errors: RunNotFound; ServerUnavailable when no worker answers in time. */
export function readState(link: Link, runId: string, limitMs?: number): Promise<RunView> {
  return askWorker(link, { runId, ...(limitMs !== undefined && { limitMs }) }, () =>
    link.temporal.workflow.getHandle(runId).query(state),
  );
}

export function readAsks(link: Link, runId: string): Promise<readonly OpenAsk[]> {
  return askWorker(link, { runId }, () =>
    link.temporal.workflow.getHandle(runId).query(pendingApprovals),
  );
}
