/** Lists of runs and of questions: from the store, which forgets nothing; else from Temporal. */
import { HoldfastError } from '../../core/state/errors.js';
import type { AskRow } from '../../store/asks.js';
import type { WorkflowExecutionInfo } from '@temporalio/client';
import { isEndByTemporal, isOwnEnd, isTemporalsAlone } from '../../pure/listed-status.js';
import type { RunsQuery } from '../../store/runs.js';
import { standingsOf } from './ends-by-temporal.js';
import type { ListQuery } from './joined-page.js';
import { joinedRuns } from './joined-runs.js';
import { openAsks, type PendingQuery } from './ended-runs.js';
import { bounded, type Link } from '../link.js';
import { summaryOf, type RunSummary } from './run-summary.js';
import { ENDED_AS, visibilityQuery } from './visibility-query.js';

const LIST_MAX = 1_000;

export async function listRuns(link: Link, query: ListQuery): Promise<readonly RunSummary[]> {
  if (link.store === undefined) return listFromServer(link, query);
  return (await joinedRuns(link, link.store, query)).rows.map(summaryOf);
}

/** What Temporal's own list knows nothing of. */
const STORE_ONLY = [
  'costFrom',
  'costTo',
  'before',
  'parent',
  'root',
] as const satisfies readonly (keyof RunsQuery)[];

/** Temporal's own list lags by a moment and forgets runs after the namespace's retention. */
async function listFromServer(link: Link, query: ListQuery): Promise<readonly RunSummary[]> {
  if (STORE_ONLY.some((name) => query[name] !== undefined)) {
    throw new HoldfastError('StoreUnavailable', 'There is no store to look for costs and pages.', {
      hint: 'Set HOLDFAST_STORE to the store of your workers, or list by status and agent.',
    });
  }
  const limit = Math.min(Math.max(1, query.limit), LIST_MAX);
  const found = await executionsOf(link, { filter: filterOf(link.tenant, query), limit });
  const doubtful = found.filter(({ status }) => isEndByTemporal(status) && !isOwnEnd(status));
  const standings = await standingsOf(
    link,
    doubtful.map(({ runId }) => runId),
  );
  return found.flatMap((run) => {
    if (standings.get(run.runId) !== 'open') return [run];
    // It was reset, and goes on under the id.
    return isTemporalsAlone(query.status) ? [] : [{ ...run, status: 'running' }];
  });
}

function filterOf(tenant: string, { status, agent, kind }: ListQuery): string {
  const isTemporals = isTemporalsAlone(status);
  const isLive = status !== undefined && !isTemporals && !isOwnEnd(status);
  return visibilityQuery(
    {
      HoldfastTenant: tenant,
      HoldfastStatus: isTemporals ? undefined : status,
      HoldfastAgent: agent,
      ExecutionStatus: isTemporals ? ENDED_AS[status] : isLive ? 'Running' : undefined,
    },
    kind,
  );
}

interface ExecutionsWanted {
  readonly filter: string;
  readonly limit: number;
}

/** Of each run one: that which runs, else the newest. */
function executionsOf(
  link: Link,
  { filter, limit }: ExecutionsWanted,
): Promise<readonly RunSummary[]> {
  return bounded(link, {}, async () => {
    const found = new Map<string, RunSummary>();
    for await (const info of link.temporal.workflow.list({ query: filter, pageSize: 100 })) {
      if (info.status.name === 'CONTINUED_AS_NEW') continue;
      const known = found.get(info.workflowId);
      if (known === undefined || info.status.name === 'RUNNING')
        found.set(info.workflowId, shownOf(info));
      if (found.size >= limit) break;
    }
    return [...found.values()];
  });
}

function shownOf(info: WorkflowExecutionInfo): RunSummary {
  const { HoldfastAgent: agents, HoldfastStatus: statuses } = info.searchAttributes;
  const { name } = info.status;
  const shown = statuses?.[0];
  // One that was terminated has said nothing of that.
  const isShown = shown !== undefined && (name === 'RUNNING' || isOwnEnd(shown));
  return {
    runId: info.workflowId,
    agent: String(agents?.[0] ?? ''),
    status: String(isShown ? shown : name.toLowerCase()),
    ...(name === 'RUNNING' && isOwnEnd(shown) && { closing: true as const }),
    startedAt: info.startTime.getTime(),
    ...(info.closeTime && { updatedAt: info.closeTime.getTime() }),
  };
}

export async function listAsks(link: Link, query: PendingQuery): Promise<readonly AskRow[]> {
  if (link.store === undefined) {
    throw new HoldfastError('StoreUnavailable', 'There is no store to list questions from.', {
      hint: 'Set HOLDFAST_STORE to the store of your workers, or ask a run by its id.',
    });
  }
  return openAsks(link, link.store, query);
}
