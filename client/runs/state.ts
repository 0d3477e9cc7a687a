/** Asking a run for its state: a query, which only a worker can answer. */
import { HoldfastError } from '../../core/state/errors.js';
import type { OpenAsk, Question, RunView } from '../../core/state/view.js';
import { pendingApprovals, question, state } from '../../workflows/messages.js';
import { askWorker } from '../ask-worker.js';
import type { Link } from '../link.js';

/** Errors: RunNotFound; ServerUnavailable when no worker answers in time. */
export function readState(link: Link, runId: string, limitMs?: number): Promise<RunView> {
  return askWorker(link, { runId, ...(limitMs !== undefined && { limitMs }) }, () =>
    link.temporal.workflow.getHandle(runId).query(state),
  );
}

/** One question; null: the run has not asked it. Of a worker of an older release only open ones. */
export async function readQuestion(
  link: Link,
  runId: string,
  askId: string,
): Promise<Question | null> {
  try {
    return await askWorker(link, { runId }, () =>
      link.temporal.workflow.getHandle(runId).query(question, askId),
    );
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== 'RunNotFound') throw error;
    const open = (await readAsks(link, runId)).find((view) => view.askId === askId);
    if (open === undefined) return null;
    const { votes: _, takesGrant: __, ...ask } = open;
    return { outcome: 'pending', ask };
  }
}

export function readAsks(link: Link, runId: string): Promise<readonly OpenAsk[]> {
  return askWorker(link, { runId }, () =>
    link.temporal.workflow.getHandle(runId).query(pendingApprovals),
  );
}
