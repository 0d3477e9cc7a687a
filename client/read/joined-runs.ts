/**
 * Lists of runs from the store, with what Temporal alone knows: runs that it ended, and runs that no worker has opened.
 * Invariants: nothing is written, so a run that a reset revives stands as before; each page of rows asks the server's
 * list once, the server about the runs that the list does not call running, and the store once more about those that
 * have ended by themselves; without the server the rows are told as the store has them, with the reason.
 */
import { HoldfastError } from '../../core/state/errors.js';
import { isTemporalsAlone } from '../../pure/listed-status.js';
import { LIST_ROWS_MAX } from '../../store/bounds.js';
import type { RunRow } from '../../store/runs.js';
import type { Link, ReadingStore } from '../link.js';
import { standingsOf, type Standing } from './ends-by-temporal.js';
import { executionsFor, type FoundExecution } from './found-executions.js';
import {
  asItStands,
  isOfPage,
  othersWanted,
  pageOf,
  placeOf,
  unopenedRow,
  type ListedPage,
  type ListedRow,
  type ListQuery,
  type Place,
} from './joined-page.js';

export interface JoinedRuns extends ListedPage {
  /** Why what Temporal knows may be missing. */
  readonly trouble?: string;
}

type ListStore = Pick<ReadingStore, 'listRuns' | 'getRun'>;

/** More pages than this with runs that stand otherwise than the store has it make a short list, which can be gone on with. */
const PAGES_MAX = 20;
const ROWS_READ_AT_ONCE = 20;

/** Errors: ServerUnavailable, where the status is one that Temporal alone tells. */
export async function joinedRuns(
  link: Link,
  store: ListStore,
  query: ListQuery,
): Promise<JoinedRuns> {
  const wanted = Math.min(Math.max(1, query.limit), LIST_ROWS_MAX);
  const rows: ListedRow[] = [];
  let page: JoinedRuns | undefined;
  let trouble: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const before = page?.next ?? query.before;
    const limit = wanted - rows.length;
    page = await joinedPage(link, store, { ...query, limit, ...(before && { before }) });
    rows.push(...page.rows);
    trouble ??= page.trouble;
    if (page.next === undefined || rows.length >= wanted) break;
  }
  const next = page?.next;
  return { rows, ...(next && { next }), ...(trouble !== undefined && { trouble }) };
}

/** How rows that were found otherwise stand. */
export async function standingRows(
  link: Link,
  rows: readonly RunRow[],
): Promise<Pick<JoinedRuns, 'rows' | 'trouble'>> {
  try {
    return { rows: (await joinOf(link, { rows })).rows };
  } catch (error) {
    return { rows, trouble: troubleOf(error) };
  }
}

/** One that the store has nothing of, as the server's list has it. Errors: ServerUnavailable. */
export async function unopenedRun(link: Link, runId: string): Promise<RunRow | undefined> {
  const { found } = await executionsFor(link, { listed: 'both', runIds: [runId] });
  const one = found.get(runId);
  return one && unopenedRow({ ...one, tenant: link.tenant });
}

async function joinedPage(link: Link, store: ListStore, query: ListQuery): Promise<JoinedRuns> {
  const { status, before, ...others } = query;
  const stored = isTemporalsAlone(status)
    ? []
    : await store.listRuns(link.tenant, {
        ...others,
        ...(status !== undefined && { status }),
        ...(before && { before }),
      });
  const last = stored.length === query.limit ? stored.at(-1) : undefined;
  const end = last && placeOf(last);
  try {
    const joined = await joinOf(link, { rows: stored, query, end, store });
    const page = pageOf(joined.rows, query, end);
    return { ...page, ...(joined.trouble && { trouble: joined.trouble }) };
  } catch (error) {
    if (isTemporalsAlone(status)) throw error;
    return { rows: stored, ...(end && { next: end }), trouble: troubleOf(error) };
  }
}

/** Errors: whatever is none of the server's. */
function troubleOf(error: unknown): string {
  if (error instanceof HoldfastError) return error.message;
  throw error;
}

interface Joining {
  readonly rows: readonly RunRow[];
  /** Absent: no others are looked for. */
  readonly query?: ListQuery;
  /** Where the page of the store ends; absent: with its last run. */
  readonly end?: Place | undefined;
  readonly store?: ListStore;
}

async function joinOf(
  link: Link,
  { rows, query, end, store }: Joining,
): Promise<Pick<JoinedRuns, 'rows' | 'trouble'>> {
  const open = rows.filter(({ result }) => result === undefined).map(({ runId }) => runId);
  const others = query && othersWanted(query, end);
  const listed = query === undefined ? 'both' : (query.kind ?? 'run');
  const asked = { listed, runIds: open, ...(others && { others }) } as const;
  const { found, more } = await executionsFor(link, asked);
  const inPage = new Set(rows.map(({ runId }) => runId));
  const strangers = [...found.values()].filter(({ runId }) => !inPage.has(runId));
  const added =
    query === undefined || store === undefined
      ? []
      : (await rowsOfStrangers(link, store, strangers)).filter((row) => isOfPage(row, query, end));
  const all: readonly RunRow[] = [...rows, ...added];
  const unsure = all.filter(
    ({ runId, result }) => result === undefined && found.get(runId)?.isRunning !== true,
  );
  const standings = await standingsOf(
    link,
    unsure.map(({ runId }) => runId),
  );
  const now = await withNewRows(link, all, standings);
  const standing = now.flatMap((row) => asItStands(row, standings.get(row.runId)));
  return { rows: standing, ...(more && { trouble: more }) };
}

/** As the store has them, or as it would have them if a worker had opened them. */
async function rowsOfStrangers(
  link: Link,
  store: ListStore,
  strangers: readonly FoundExecution[],
): Promise<readonly RunRow[]> {
  const rows: RunRow[] = [];
  for (let from = 0; from < strangers.length; from += ROWS_READ_AT_ONCE) {
    const some = strangers.slice(from, from + ROWS_READ_AT_ONCE);
    const read = await Promise.all(some.map(({ runId }) => store.getRun(link.tenant, runId)));
    rows.push(...some.map((one, at) => read[at] ?? unopenedRow({ ...one, tenant: link.tenant })));
  }
  return rows;
}

/** A run stores its result before it ends: only a row that was read before that, or an older copy, lacks it. */
async function withNewRows(
  { store, tenant }: Link,
  rows: readonly RunRow[],
  standings: ReadonlyMap<string, Standing>,
): Promise<readonly RunRow[]> {
  const read = [...rows];
  for (const [at, { runId }] of rows.entries()) {
    if (typeof standings.get(runId) !== 'object') continue;
    read[at] = (await store?.getRun(tenant, runId)) ?? rows[at]!;
  }
  return read;
}
