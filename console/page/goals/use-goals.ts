/** The goals that fit the filters. The newest page is looked at again every few seconds. */
import { useState } from 'preact/hooks';
import { get } from '../data/api.js';
import type { Goal } from '../data/api-types.js';
import { withPage as withRows, type Page } from '../data/newest-page.js';
import { usePoll } from '../data/use-poll.js';
import { keep, keptOf } from '../parts/use-kept.js';

const FILTERS = 'filters';
const LOOK_MS = 5_000;
const PAGE_ROWS = 50;

export interface GoalFilters {
  readonly status: string;
  readonly agent: string;
}

export interface KnownGoals {
  readonly filters: GoalFilters;
  readonly goals: readonly Goal[];
  readonly isFetched: boolean;
  /** Where older ones begin; undefined: there are none. */
  readonly next?: string | undefined;
}

export interface Goals extends KnownGoals {
  readonly filter: (filters: GoalFilters) => void;
  readonly fetchOlder: () => Promise<void>;
}

const NONE: KnownGoals = { filters: { status: '', agent: '' }, goals: [], isFetched: false };

export function useGoals(): Goals {
  const [known, setKnown] = useState(() => ({
    ...NONE,
    filters: keptOf(FILTERS, NONE.filters),
  }));
  const { filters, next } = known;
  // What comes for other filters than those of now is too late.
  const take = (page: Page<Goal>, isNewest: boolean): void =>
    setKnown((now) => (now.filters === filters ? withPage(now, page, isNewest) : now));
  const fetchPage = (cursor?: string, signal?: AbortSignal): Promise<Page<Goal>> => {
    const query = new URLSearchParams({ limit: String(PAGE_ROWS) });
    if (filters.status !== '') query.set('status', filters.status);
    if (filters.agent.trim() !== '') query.set('agent', filters.agent.trim());
    if (cursor !== undefined) query.set('cursor', cursor);
    return get(`/v1/goals?${query.toString()}`, signal);
  };
  usePoll(async (signal) => take(await fetchPage(undefined, signal), true), {
    everyMs: LOOK_MS,
    name: JSON.stringify(filters),
  });
  return {
    ...known,
    filter: (wanted) => {
      keep(FILTERS, wanted);
      setKnown({ ...NONE, filters: wanted });
    },
    fetchOlder: async () => {
      // Who wants it presses again.
      await fetchPage(next).then(
        (page) => take(page, false),
        () => {},
      );
    },
  };
}

function withPage(known: KnownGoals, page: Page<Goal>, isNewest: boolean): KnownGoals {
  const reading = { idOf: ({ goalId }: Goal) => goalId, isNewest, pageRows: PAGE_ROWS };
  const { rows, next } = withRows({ rows: known.goals, next: known.next }, page, reading);
  return { ...known, goals: rows, next, isFetched: true };
}
