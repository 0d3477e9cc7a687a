/** Lists of runs and of questions: from the store, which forgets nothing; else from Temporal. */
import { HoldfastError } from '../core/errors.js';
import type { AskRow } from '../store/asks.js';
import type { RunsQuery } from '../store/runs.js';
import { AGENT_RUN } from '../workflows/messages.js';
import { bounded, type Link } from './link.js';
import { summaryOf, type RunSummary } from './run-summary.js';

const LIST_MAX = 1_000;

export async function listRuns(link: Link, query: RunsQuery): Promise<readonly RunSummary[]> {
  if (link.store === undefined) return listFromServer(link, query);
  return (await link.store.listRuns(link.tenant, query)).map(summaryOf);
}

/** Temporal's own list lags by a moment and forgets runs after the namespace's retention. */
async function listFromServer(link: Link, query: RunsQuery): Promise<readonly RunSummary[]> {
  const filters = [
    `WorkflowType = '${AGENT_RUN}'`,
    ...(query.status === undefined ? [] : [`HoldfastStatus = '${quoted(query.status)}'`]),
    ...(query.agent === undefined ? [] : [`HoldfastAgent = '${quoted(query.agent)}'`]),
  ];
  const limit = Math.min(Math.max(1, query.limit), LIST_MAX);
  return bounded(link, {}, async () => {
    const found: RunSummary[] = [];
    const list = link.temporal.workflow.list({ query: filters.join(' AND '), pageSize: 100 });
    for await (const info of list) {
      if (info.status.name === 'CONTINUED_AS_NEW') continue;
      const { HoldfastAgent: agents, HoldfastStatus: statuses } = info.searchAttributes;
      found.push({
        runId: info.workflowId,
        agent: String(agents?.[0] ?? ''),
        status: String(statuses?.[0] ?? info.status.name.toLowerCase()),
        startedAt: info.startTime.getTime(),
        ...(info.closeTime && { updatedAt: info.closeTime.getTime() }),
      });
      if (found.length >= limit) break;
    }
    return found;
  });
}

function quoted(value: string): string {
  return value.replace(/[^A-Za-z0-9._ -]/g, '');
}

export interface PendingQuery {
  readonly limit: number;
  readonly runId?: string;
}

export async function listAsks(link: Link, query: PendingQuery): Promise<readonly AskRow[]> {
  if (link.store === undefined) {
    throw new HoldfastError('StoreUnavailable', 'There is no store to list questions from.', {
      hint: 'Set HOLDFAST_STORE to the store of your workers, or ask a run by its id.',
    });
  }
  return link.store.listAsks(link.tenant, { ...query, pendingOnly: true });
}
