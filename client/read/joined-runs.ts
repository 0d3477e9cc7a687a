/**
 * Lists of runs from the store, with what Temporal alone knows: runs that it ended, and runs that no worker has opened.
 * Invariants: nothing is written, so a run that a reset revives stands as before; each page of rows asks the server's
 * list once, and the server about the runs that the list does not call running; without the server the rows are told as
 * the store has them, with the reason.
 */
import { HoldfastError } from '../../core/state/errors.js';
import {
  ENDS_BY_TEMPORAL,
  isEndByTemporal,
  isTemporalsAlone,
  type ListedStatus,
} from '../../pure/listed-status.js';
import { LIST_ROWS_MAX } from '../../store/bounds.js';
import type { RunRow, RunsQuery } from '../../store/runs.js';
import type { Link, ReadingStore } from '../link.js';
import { standingsOf, type Standing } from './ends-by-temporal.js';
import { executionsFor, type FoundExecution } from './found-executions.js';

/** As `RunsQuery`, with the statuses that Temporal alone tells. */
export type ListQuery = Omit<RunsQuery, 'status'> & { readonly status?: ListedStatus };

/** Of a run that no worker has opened, all but its id, its status and its start is empty. */
export type ListedRow = Omit<RunRow, 'status'> & {
  readonly status: ListedStatus;
  /** It has no result, and the server knows nothing of it. */
  readonly unknown?: true;
};

type Place = NonNullable<RunsQuery['before']>;

export interface JoinedRuns {
  /** Newest first. */
  readonly rows: readonly ListedRow[];
  /** After which run the next page begins; absent: there is none. */
  readonly next?: Place;
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
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const before = page?.next ?? query.before;
    const limit = wanted - rows.length;
    page = await joinedPage(link, store, { ...query, limit, ...(before && { before }) });
    rows.push(...page.rows);
    if (page.next === undefined || rows.length >= wanted) break;
  }
  return { ...page, rows };
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
    const fitting = joined.rows
      .filter((row) => status === undefined || row.status === status)
      .toSorted((a, b) => (isAfter(b, a) ? -1 : 1));
    const rows = fitting.slice(0, query.limit);
    const cut = fitting.length > rows.length ? rows.at(-1) : undefined;
    const next = cut === undefined ? end : placeOf(cut);
    return { rows, ...(next && { next }), ...(joined.trouble && { trouble: joined.trouble }) };
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
      : (await rowsOfStrangers(link, store, strangers)).filter(
          (row) => isWithin(row, query.before, end) && isOf(row, query),
        );
  const all: readonly RunRow[] = [...rows, ...added];
  const unsure = all.filter(
    ({ runId, result }) => result === undefined && found.get(runId)?.isRunning !== true,
  );
  const standings = await standingsOf(
    link,
    unsure.map(({ runId }) => runId),
  );
  const standing = all.flatMap((row) => asItStands(row, standings.get(row.runId)));
  return { rows: standing, ...(more && { trouble: more }) };
}

function asItStands(row: RunRow, standing: Standing | undefined): readonly ListedRow[] {
  if (isEndByTemporal(standing)) return [{ ...row, status: standing }];
  // Its worker writes another store: what is not here is not told.
  if (isUnopened(row) && standing !== undefined && standing !== 'open') return [];
  return [standing === 'unknown' ? { ...row, unknown: true } : row];
}

/** Conditions that only the store knows runs by; and those that only runs with a result fit. */
const OF_ROWS = ['parent', 'root', 'forksOf', 'tool', 'errorCode'] as const;
const OF_RESULTS = ['costFrom', 'costTo', 'stopReason'] as const;

/** Which executions are looked for beside those of the page's rows. */
function othersWanted(query: ListQuery, end: Place | undefined) {
  const { status, agent, before } = query;
  const has = (name: keyof ListQuery): boolean => query[name] !== undefined;
  if (OF_RESULTS.some(has)) return undefined;
  if (isEndByTemporal(status)) return { ends: [status], agent };
  const isOfUnopened = status === undefined || status === 'running';
  if (!isOfUnopened || OF_ROWS.some(has)) return undefined;
  return {
    ends: status === undefined ? ENDS_BY_TEMPORAL : [],
    running: true,
    agent,
    // What no worker has opened has one execution, which began when the run began.
    from: end?.startedAt,
    to: before?.startedAt,
  };
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

/** Of a run that no worker has opened. */
function unopenedRow(
  run: Pick<RunRow, 'tenant' | 'runId' | 'agent' | 'startedAt'> & { readonly kind?: 'goal' },
): RunRow {
  const unsaid = { taskId: '', goalPreview: '', model: '', lastSeq: -1, epoch: 0 };
  const { tenant, runId, agent, startedAt, kind } = run;
  return {
    tenant,
    runId,
    ...(kind && { kind }),
    agent,
    ...unsaid,
    status: 'running',
    startedAt,
    updatedAt: startedAt,
  };
}

function isUnopened({ lastSeq }: RunRow): boolean {
  return lastSeq < 0;
}

/** By what a row tells itself. */
function isOf(row: RunRow, { kind = 'run', agent, parent, root, forksOf }: ListQuery): boolean {
  return (
    (row.kind ?? 'run') === kind &&
    (agent === undefined || row.agent === agent) &&
    (parent === undefined || row.parent === parent) &&
    (root === undefined || row.root === root) &&
    (forksOf === undefined || row.forked?.runId === forksOf)
  );
}

function placeOf({ startedAt, runId }: Place): Place {
  return { startedAt, runId };
}

/** In the order of lists: behind the end of the page before, and not behind that of this one. */
function isWithin(row: Place, before: Place | undefined, end: Place | undefined): boolean {
  return (
    (before === undefined || isAfter(row, before)) && (end === undefined || !isAfter(row, end))
  );
}

function isAfter(one: Place, other: Place): boolean {
  if (one.startedAt !== other.startedAt) return one.startedAt < other.startedAt;
  return one.runId < other.runId;
}
