/** Asking a goal for its state: a query, which only a worker can answer. */
import type { GoalView } from '../../core/state/goal/view.js';
import { goalState } from '../../workflows/messages.js';
import { askWorker } from '../ask-worker.js';
import type { Link } from '../link.js';

/** Errors: RunNotFound; ServerUnavailable when no worker answers in time. */
export function readGoalState(link: Link, goalId: string, limitMs?: number): Promise<GoalView> {
  return askWorker(link, { runId: goalId, ...(limitMs !== undefined && { limitMs }) }, () =>
    link.temporal.workflow.getHandle(goalId).query(goalState),
  );
}
