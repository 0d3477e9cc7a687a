/** Runs as the list knows them: pages of the server's, newest first. Pure, but for asking the desk. */
import { get } from '../data/api.js';
import type { Run } from '../data/api-types.js';

export const PAGE_ROWS = 50;

export interface RunFilters {
  readonly status: string;
  readonly agent: string;
  /** As it was written, in US dollars. */
  readonly costFrom: string;
}

export const NO_FILTERS: RunFilters = { status: '', agent: '', costFrom: '' };

export interface KnownRuns {
  readonly runs: readonly Run[];
  /** Where older ones begin; undefined: there are none. */
  readonly next?: string | undefined;
  readonly isFetched: boolean;
}

export const NO_RUNS: KnownRuns = { runs: [], isFetched: false };

interface RunsPage {
  readonly items: readonly Run[];
  readonly next?: string;
}

interface PageWanted {
  readonly filters: RunFilters;
  readonly cursor?: string | undefined;
  readonly signal?: AbortSignal;
}

export function fetchRuns({ filters, cursor, signal }: PageWanted): Promise<RunsPage> {
  const query = new URLSearchParams({ limit: String(PAGE_ROWS) });
  if (filters.status !== '') query.set('status', filters.status);
  if (filters.agent.trim() !== '') query.set('agent', filters.agent.trim());
  if (microUsd(filters) > 0) query.set('costFrom', String(microUsd(filters)));
  if (cursor !== undefined) query.set('cursor', cursor);
  return get(`/v1/runs?${query.toString()}`, signal);
}

export function isFiltered(filters: RunFilters): boolean {
  return filters.status !== '' || filters.agent.trim() !== '' || microUsd(filters) > 0;
}

function microUsd({ costFrom }: RunFilters): number {
  const dollars = Number(costFrom.trim().replace(',', '.'));
  return Number.isFinite(dollars) && dollars > 0 ? Math.round(dollars * 1_000_000) : 0;
}

/** `isNewest`: the page begins with the newest run. */
export function withPage(known: KnownRuns, page: RunsPage, isNewest: boolean): KnownRuns {
  const runs = new Map([...known.runs, ...page.items].map((run) => [run.runId, run]));
  // The newest page says where the next one begins only while it is the only one.
  const tellsNext = !isNewest || known.runs.length <= PAGE_ROWS;
  return {
    runs: [...runs.values()].sort((a, b) => b.startedAt - a.startedAt),
    next: tellsNext ? page.next : known.next,
    isFetched: true,
  };
}
