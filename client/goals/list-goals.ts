/** Goals, newest first: from the store, which forgets nothing; else from Temporal. */
import type { RunRow, RunsQuery } from '../../store/runs.js';
import { listRuns } from '../read/lists.js';
import { summaryOf, type RunSummary } from '../read/run-summary.js';
import type { Link } from '../link.js';

/** Which goals a list has. */
export type GoalsQuery = Omit<RunsQuery, 'kind' | 'parent'>;

/** A goal in a list. */
export interface GoalSummary extends Omit<RunSummary, 'runId' | 'goal'> {
  readonly goalId: string;
  /** The beginning of a long one. Temporal does not tell it. */
  readonly objective?: string;
  readonly detail?: string;
  /** ms since epoch, of one that sleeps until then. */
  readonly nextWake?: number;
  readonly spentMicroUsd?: number;
  readonly budgetMicroUsd?: number;
}

export async function listGoals(link: Link, query: GoalsQuery): Promise<readonly GoalSummary[]> {
  if (link.store !== undefined) {
    return (await link.store.listGoals(link.tenant, query)).map(goalSummary);
  }
  const listed = await listRuns(link, { ...query, kind: 'goal' });
  // Temporal tells no goal of a run, so that there is no objective.
  return listed.map(({ runId, ...run }) => ({ goalId: runId, ...run }));
}

export function goalSummary(row: RunRow): GoalSummary {
  const { runId, goal, ...run } = summaryOf(row);
  const { detail, nextWake, spentMicroUsd, budgetMicroUsd } = row;
  return {
    goalId: runId,
    ...run,
    ...(goal !== undefined && { objective: goal }),
    ...(detail !== undefined && { detail }),
    ...(nextWake !== undefined && { nextWake }),
    ...(spentMicroUsd !== undefined && { spentMicroUsd }),
    ...(budgetMicroUsd !== undefined && { budgetMicroUsd }),
  };
}
