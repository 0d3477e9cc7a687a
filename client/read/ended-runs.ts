/**
 * Runs that are over although the store has no result of them: Temporal ended them, by a termination, a timeout or a
 * failure, so they could say nothing more. Nobody can answer their questions.
 * Invariant: nothing is written; a run that a reset revives has its questions again.
 */
import { HoldfastError } from '../../core/state/errors.js';
import type { AskRow, AsksQuery } from '../../store/asks.js';
import { isOver } from '../runs/execution.js';
import { bounded, type Link, type ReadingStore } from '../link.js';
import { closedAmong } from './visibility-query.js';

export type PendingQuery = Omit<AsksQuery, 'pendingOnly'>;

/** Most ids that one query of the server names. */
const IDS_PER_QUERY = 50;
/** A list of questions is an answer also without the server, and soon one where it is slow. */
const SERVER_LIMIT_MS = 2_000;
const ALL_LIMIT_MS = 4_000;
const LOOKS_AT_ONCE = 20;
/** More pages than this with questions of ended runs are shown as the store has them. */
const PAGES_MAX = 20;

/** Questions that a person can still answer, oldest first. */
export async function openAsks(
  link: Link,
  store: Pick<ReadingStore, 'listAsks'>,
  query: PendingQuery,
): Promise<readonly AskRow[]> {
  const open: AskRow[] = [];
  const until = performance.now() + ALL_LIMIT_MS;
  let { after } = query;
  for (let page = 0; ; page += 1) {
    const limit = query.limit - open.length;
    const wanted = { ...query, limit, pendingOnly: true, ...(after && { after }) };
    const rows = await store.listAsks(link.tenant, wanted);
    const over = page < PAGES_MAX ? await endedAmong(link, rows, until) : new Set();
    open.push(...rows.filter(({ runId }) => !over.has(runId)));
    const last = rows.at(-1);
    if (over.size === 0 || last === undefined || open.length >= query.limit) return open;
    after = { openedAt: last.openedAt, askId: last.askId };
  }
}

/** None, when the server cannot be asked in time: better a question too many than one too few. */
async function endedAmong(
  link: Link,
  rows: readonly AskRow[],
  until: number,
): Promise<ReadonlySet<string>> {
  const ids = [...new Set(rows.map(({ runId }) => runId))];
  const ended = new Set<string>();
  if (performance.now() >= until) return ended;
  try {
    const closed = [...(await saidToBeClosed(link, ids))];
    for (let from = 0; from < closed.length; from += LOOKS_AT_ONCE) {
      const limitMs = until - performance.now();
      if (limitMs <= 0) break;
      // The server's list lags: only what it says of the run itself counts.
      const looks = closed.slice(from, from + LOOKS_AT_ONCE).map(async (runId) => {
        if (await isOver(link, runId, limitMs)) ended.add(runId);
      });
      await Promise.all(looks);
    }
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
  }
  return ended;
}

async function saidToBeClosed(link: Link, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let from = 0; from < ids.length; from += IDS_PER_QUERY) {
    const some = ids.slice(from, from + IDS_PER_QUERY);
    for (const runId of await closedOf(link, some)) found.add(runId);
  }
  return found;
}

async function closedOf(link: Link, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const query = closedAmong(ids, link.tenant);
  return bounded(link, { limitMs: SERVER_LIMIT_MS }, async () => {
    const found = new Set<string>();
    for await (const { workflowId } of link.temporal.workflow.list({ query, pageSize: 200 })) {
      found.add(workflowId);
      if (found.size >= ids.length) break;
    }
    return found;
  });
}
