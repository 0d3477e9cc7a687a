/** The runs that fit the filters. The newest page is looked at again every few seconds. */
import { useState } from 'preact/hooks';
import { usePoll } from '../data/use-poll.js';
import { keep, keptOf } from '../parts/use-kept.js';
import { fetchRuns } from './fetch-runs.js';
import { parametersOf } from './conditions.js';
import {
  NO_FILTERS,
  NO_RUNS,
  orderOf,
  withPage,
  type KnownRuns,
  type RunFilters,
  type RunsPage,
} from './known-runs.js';

const FILTERS = 'filters';
const LOOK_MS = 4_000;
/** The server looks at many runs for each search. */
const SEARCH_MS = 30_000;

export interface Runs extends KnownRuns {
  readonly filters: RunFilters;
  readonly filter: (filters: RunFilters) => void;
  readonly fetchOlder: () => Promise<void>;
}

interface Found {
  readonly filters: RunFilters;
  readonly known: KnownRuns;
}

export function useRuns(): Runs {
  const [found, setFound] = useState<Found>(() => ({
    filters: keptOf(FILTERS, NO_FILTERS),
    known: NO_RUNS,
  }));
  const { filters, known } = found;
  // What comes for other filters than those of now is too late.
  const take = (page: RunsPage, isNewest: boolean): void =>
    setFound((now) =>
      now.filters === filters ? { filters, known: knownWith(now, page, isNewest) } : now,
    );
  usePoll(async (signal) => take(await fetchRuns({ filters, signal }), true), {
    everyMs: isSearched(filters) ? SEARCH_MS : LOOK_MS,
    name: JSON.stringify(filters),
  });
  return {
    ...known,
    filters,
    filter: (wanted) => {
      keep(FILTERS, wanted);
      setFound({ filters: wanted, known: NO_RUNS });
    },
    fetchOlder: async () => {
      // Who wants it presses again.
      await fetchRuns({ filters, cursor: known.next }).then(
        (page) => take(page, false),
        () => {},
      );
    },
  };
}

function isSearched({ written, sort }: RunFilters): boolean {
  return sort !== 'started' || parametersOf(written).size > 0;
}

/** In another order a page is the whole list, as it is. */
function knownWith({ filters, known }: Found, page: RunsPage, isNewest: boolean): KnownRuns {
  if (orderOf(filters) !== 'started') return { runs: page.items, isFetched: true };
  return withPage(known, page, isNewest);
}
