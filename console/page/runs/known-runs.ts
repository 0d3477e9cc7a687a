/** Runs as the list knows them: pages of the server's, newest first. Pure. */
import type { Run } from '../data/api-types.js';
import { withPage as withRows, type Page } from '../data/newest-page.js';
import { parametersOf, type Sort, type Written } from './conditions.js';

export const PAGE_ROWS = 50;

export interface RunFilters {
  readonly status: string;
  readonly agent: string;
  /** As it was written, in US dollars. */
  readonly costFrom: string;
  readonly written: Written;
  readonly sort: Sort;
}

export const NO_FILTERS: RunFilters = {
  status: '',
  agent: '',
  costFrom: '',
  written: {},
  sort: 'started',
};

export interface KnownRuns {
  readonly runs: readonly Run[];
  /** Where older ones begin; undefined: there are none. */
  readonly next?: string | undefined;
  readonly isFetched: boolean;
}

export const NO_RUNS: KnownRuns = { runs: [], isFetched: false };

export type RunsPage = Page<Run>;

export function isFiltered(filters: RunFilters): boolean {
  const { status, agent, written } = filters;
  return (
    status !== '' ||
    agent.trim() !== '' ||
    microUsdFrom(filters) > 0 ||
    parametersOf(written).size > 0
  );
}

/** Millionths of a US dollar; 0: any. */
export function microUsdFrom({ costFrom }: RunFilters): number {
  const dollars = Number(costFrom.trim().replace(',', '.'));
  return Number.isFinite(dollars) && dollars > 0 ? Math.round(dollars * 1_000_000) : 0;
}

/** Runs are compared with another one in the order of their starts alone. */
export function orderOf({ sort, written }: RunFilters): Sort {
  return parametersOf(written).has('differsFrom') ? 'started' : sort;
}

/** `isNewest`: the page begins with the newest run. */
export function withPage(known: KnownRuns, page: RunsPage, isNewest: boolean): KnownRuns {
  const reading = { idOf: ({ runId }: Run) => runId, isNewest, pageRows: PAGE_ROWS };
  const { rows, next } = withRows({ rows: known.runs, next: known.next }, page, reading);
  return { runs: rows, next, isFetched: true };
}
