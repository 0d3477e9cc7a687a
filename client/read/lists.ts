/** Lists of runs and of questions: from the store, which forgets nothing; else from Temporal. */
import { HoldfastError } from '../../core/state/errors.js';
import type { AskRow } from '../../store/asks.js';
import type { RunsQuery } from '../../store/runs.js';
import { openAsks, type PendingQuery } from './ended-runs.js';
import { bounded, type Link } from '../link.js';
import { summaryOf, type RunSummary } from './run-summary.js';
import { visibilityQuery } from './visibility-query.js';

const LIST_MAX = 1_000;

export async function listRuns(link: Link, query: RunsQuery): Promise<readonly RunSummary[]> {
  if (link.store === undefined) return listFromServer(link, query);
  return (await link.store.listRuns(link.tenant, query)).map(summaryOf);
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
async function listFromServer(link: Link, query: RunsQuery): Promise<readonly RunSummary[]> {
  if (STORE_ONLY.some((name) => query[name] !== undefined)) {
    throw new HoldfastError('StoreUnavailable', 'There is no store to look for costs and pages.', {
      hint: 'Set HOLDFAST_STORE to the store of your workers, or list by status and agent.',
    });
  }
  const equalTo = {
    HoldfastTenant: link.tenant,
    HoldfastStatus: query.status,
    HoldfastAgent: query.agent,
    ...(query.status !== undefined && !isEnd(query.status) && { ExecutionStatus: 'Running' }),
  };
  const filter = visibilityQuery(equalTo, query.kind);
  const limit = Math.min(Math.max(1, query.limit), LIST_MAX);
  return bounded(link, {}, async () => {
    const found: RunSummary[] = [];
    const list = link.temporal.workflow.list({ query: filter, pageSize: 100 });
    for await (const info of list) {
      if (info.status.name === 'CONTINUED_AS_NEW') continue;
      const { HoldfastAgent: agents, HoldfastStatus: statuses } = info.searchAttributes;
      const { name } = info.status;
      const shown = statuses?.[0];
      // One that was terminated has said nothing of that.
      const isShown = shown !== undefined && (name === 'RUNNING' || isEnd(shown));
      found.push({
        runId: info.workflowId,
        agent: String(agents?.[0] ?? ''),
        status: String(isShown ? shown : name.toLowerCase()),
        ...(name === 'RUNNING' && isEnd(shown) && { closing: true as const }),
        startedAt: info.startTime.getTime(),
        ...(info.closeTime && { updatedAt: info.closeTime.getTime() }),
      });
      if (found.length >= limit) break;
    }
    return found;
  });
}

const ENDED: readonly unknown[] = ['completed', 'stopped', 'failed', 'cancelled'];

function isEnd(status: unknown): boolean {
  return ENDED.includes(status);
}

export async function listAsks(link: Link, query: PendingQuery): Promise<readonly AskRow[]> {
  if (link.store === undefined) {
    throw new HoldfastError('StoreUnavailable', 'There is no store to list questions from.', {
      hint: 'Set HOLDFAST_STORE to the store of your workers, or ask a run by its id.',
    });
  }
  return openAsks(link, link.store, query);
}
