/** Executions of runs as Temporal's own list has them, which lags by a moment and forgets. */
import { GOAL_RUN } from '../../workflows/messages.js';
import { bounded, type Link } from '../link.js';
import {
  executionsQuery,
  runningBelow,
  type Listed,
  type OtherExecutions,
} from './visibility-query.js';

export interface FoundExecution {
  readonly runId: string;
  /** Absent: a run. */
  readonly kind?: 'goal';
  /** One of its executions is. */
  readonly isRunning: boolean;
  /** '' where its start has not shown it. */
  readonly agent: string;
  /** Of that execution, ms since epoch. */
  readonly startedAt: number;
}

interface Wanted {
  readonly listed: Listed;
  readonly runIds: readonly string[];
  readonly others?: OtherExecutions;
}

export interface FoundExecutions {
  /** By run id. */
  readonly found: ReadonlyMap<string, FoundExecution>;
  /** Said where the server has more than one answer of it takes. */
  readonly more?: string;
}

/** Rows of one answer of the server. */
const ANSWER_ROWS = 1_000;
/** Most ids that one query of the server names: a longer page asks more than once. */
const IDS_PER_QUERY = 200;
/** A list is an answer also without the server. */
const LIMIT_MS = 2_000;

/** Errors: ServerUnavailable. */
export async function executionsFor(
  link: Link,
  { listed, runIds, others }: Wanted,
): Promise<FoundExecutions> {
  const found = new Map<string, FoundExecution>();
  let rest = runIds;
  let isFirst = true;
  let hasMore = false;
  while (rest.length > 0 || (isFirst && others !== undefined)) {
    const some = rest.slice(0, IDS_PER_QUERY);
    rest = rest.slice(IDS_PER_QUERY);
    const asked = { tenant: link.tenant, listed, runIds: some };
    hasMore =
      (await addAnswer(
        link,
        executionsQuery({ ...asked, ...(isFirst && others && { others }) }),
        found,
      )) || hasMore;
    isFirst = false;
  }
  const more = `Temporal has more runs that fit than the ${ANSWER_ROWS} that it is asked for.`;
  return { found, ...(hasMore && { more }) };
}

/** Ids of runs that are running and begin so, at most ANSWER_ROWS. Errors: ServerUnavailable. */
export async function runningRuns(link: Link, below: string): Promise<readonly string[]> {
  const query = runningBelow(link.tenant, below);
  return bounded(link, { limitMs: LIMIT_MS }, async () => {
    const found: string[] = [];
    for await (const { workflowId } of link.temporal.workflow.list({ query })) {
      if (found.push(workflowId) === ANSWER_ROWS) break;
    }
    return found;
  });
}

/** True: the server has more. */
async function addAnswer(
  link: Link,
  query: string,
  found: Map<string, FoundExecution>,
): Promise<boolean> {
  return bounded(link, { limitMs: LIMIT_MS }, async () => {
    let count = 0;
    for await (const info of link.temporal.workflow.list({ query, pageSize: ANSWER_ROWS })) {
      if (count === ANSWER_ROWS) return true;
      count += 1;
      const { workflowId: runId, status, startTime, searchAttributes } = info;
      const known = found.get(runId);
      const isRunning = status.name === 'RUNNING' || status.name === 'PAUSED';
      if (known !== undefined && (known.isRunning || !isRunning)) continue;
      const agent = String(searchAttributes.HoldfastAgent?.[0] ?? '');
      const kind = info.type === GOAL_RUN && { kind: 'goal' as const };
      found.set(runId, { runId, ...kind, isRunning, agent, startedAt: startTime.getTime() });
    }
    return false;
  });
}
