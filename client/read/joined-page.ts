/**
 * What belongs to a page of a list that the store and Temporal tell together, and how its runs stand; pure.
 * Invariants: the pages of a list are windows of the order of starts, newest first, so that each run is on one of them;
 * what Temporal says of a run counts only while the store has no result of it.
 */
import { ENDS_BY_TEMPORAL, isEndByTemporal, type ListedStatus } from '../../pure/listed-status.js';
import type { RunRow, RunsQuery } from '../../store/runs.js';
import type { Standing } from './ends-by-temporal.js';
import type { OtherExecutions } from './visibility-query.js';

/** As `RunsQuery`, with the statuses that Temporal alone tells. */
export type ListQuery = Omit<RunsQuery, 'status'> & { readonly status?: ListedStatus };

/** Of a run that no worker has opened, all but its id, its status and its start is empty. */
export type ListedRow = Omit<RunRow, 'status'> & {
  readonly status: ListedStatus;
  /** It has no result, and the server knows nothing of it. */
  readonly unknown?: true;
  /** It has ended by itself, and the store, a copy of before that, has no result of it. */
  readonly notStored?: true;
};

export type Place = NonNullable<RunsQuery['before']>;

export interface ListedPage {
  /** Newest first. */
  readonly rows: readonly ListedRow[];
  /** After which run the next page begins; absent: there is none. */
  readonly next?: Place;
}

/** Of rows that are all within its window; `end`: where the store has more. */
export function pageOf(
  rows: readonly ListedRow[],
  { status, limit }: Pick<ListQuery, 'status' | 'limit'>,
  end: Place | undefined,
): ListedPage {
  const fitting = rows
    .filter((row) => status === undefined || row.status === status)
    .toSorted((a, b) => (isAfter(b, a) ? -1 : 1));
  const shown = fitting.slice(0, limit);
  const cut = fitting.length > shown.length ? shown.at(-1) : undefined;
  const next = cut === undefined ? end : placeOf(cut);
  return { rows: shown, ...(next && { next }) };
}

export function asItStands(row: RunRow, standing: Standing | undefined): readonly ListedRow[] {
  if (row.result !== undefined) return [row];
  if (isEndByTemporal(standing)) return [{ ...row, status: standing }];
  // Its worker writes another store: what is not here is not told.
  if (isUnopened(row) && standing !== undefined && standing !== 'open') return [];
  if (typeof standing === 'object') return [{ ...row, status: standing.own, notStored: true }];
  return [standing === 'unknown' ? { ...row, unknown: true } : row];
}

/** Conditions that only the store knows runs by; and those that only runs with a result fit. */
const OF_ROWS = ['parent', 'root', 'forksOf', 'tool', 'errorCode'] as const;
const OF_RESULTS = ['costFrom', 'costTo', 'stopReason'] as const;

/** Which executions are looked for beside those of the page's rows. */
export function othersWanted(
  query: ListQuery,
  end: Place | undefined,
): OtherExecutions | undefined {
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

/** Of a run that no worker has opened. */
export function unopenedRow(
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

/** Whether a run that the store's page lacks belongs to it: within its window, and by what its row tells itself. */
export function isOfPage(row: RunRow, query: ListQuery, end: Place | undefined): boolean {
  return isWithin(row, query.before, end) && isOf(row, query);
}

function isOf(row: RunRow, { kind = 'run', agent, parent, root, forksOf }: ListQuery): boolean {
  return (
    (row.kind ?? 'run') === kind &&
    (agent === undefined || row.agent === agent) &&
    (parent === undefined || row.parent === parent) &&
    (root === undefined || row.root === root) &&
    (forksOf === undefined || row.forked?.runId === forksOf)
  );
}

export function placeOf({ startedAt, runId }: Place): Place {
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
