/** The goals that fit the filters. The newest page is looked at again every few seconds. */
import { useState } from 'preact/hooks';
import { get } from '../data/api.js';
import type { Goal } from '../data/api-types.js';
import { usePoll } from '../data/use-poll.js';

const LOOK_MS = 5_000;
const PAGE_ROWS = 50;

export interface GoalFilters {
  readonly status: string;
  readonly agent: string;
}

interface GoalsPage {
  readonly items: readonly Goal[];
  readonly next?: string;
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
  const [known, setKnown] = useState(NONE);
  const { filters, next } = known;
  // What comes for other filters than those of now is too late.
  const take = (page: GoalsPage, isNewest: boolean): void =>
    setKnown((now) => (now.filters === filters ? withPage(now, page, isNewest) : now));
  const fetchPage = (cursor?: string, signal?: AbortSignal): Promise<GoalsPage> => {
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
    filter: (wanted) => setKnown({ ...NONE, filters: wanted }),
    fetchOlder: async () => {
      // Who wants it presses again.
      await fetchPage(next).then(
        (page) => take(page, false),
        () => {},
      );
    },
  };
}

/** The newest page says where the next one begins only while it is the only one. */
function withPage(known: KnownGoals, page: GoalsPage, isNewest: boolean): KnownGoals {
  const goals = new Map([...known.goals, ...page.items].map((goal) => [goal.goalId, goal]));
  const tellsNext = !isNewest || known.goals.length <= PAGE_ROWS;
  return {
    ...known,
    goals: [...goals.values()].sort((a, b) => b.startedAt - a.startedAt),
    next: tellsNext ? page.next : known.next,
    isFetched: true,
  };
}
