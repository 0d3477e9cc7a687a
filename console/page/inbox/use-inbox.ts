/**
 * What waits for a person. The list is pages of the server's: the first ones are looked at again every few seconds,
 * further ones are fetched when their end comes near.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { usePoll } from '../data/use-poll.js';
import { waitingCount } from '../data/waiting-count.js';
import { keep, keptOf } from '../parts/use-kept.js';
import { fetchAsks } from './fetch-asks.js';
import {
  ARRANGED_MAX,
  isArranged,
  isFiltered,
  listName,
  NO_ASKS,
  NO_FILTERS,
  withPage,
  type InboxFilters,
  type KnownAsks,
} from './known-asks.js';

const FILTERS = 'filters';
const LOOK_MS = 2_500;
const PAGE_ROWS = 50;
const FURTHER_ROWS = 100;
/** As many as one answer holds: further ones are looked at again when they come into view. */
const REFRESHED_ROWS_MAX = 200;

export interface Inbox extends KnownAsks {
  readonly filters: InboxFilters;
  readonly filter: (filters: InboxFilters) => void;
  readonly fetchMore: () => Promise<void>;
  readonly soon: () => void;
}

interface Found {
  readonly filters: InboxFilters;
  readonly known: KnownAsks;
}

export function useInbox(): Inbox {
  const [found, setFound] = useState<Found>(() => ({
    filters: keptOf(FILTERS, NO_FILTERS),
    known: NO_ASKS,
  }));
  const newest = useRef(found);
  newest.current = found;
  const fetchPage = async (limit: number, signal: AbortSignal, cursor?: string): Promise<void> => {
    const { filters } = newest.current;
    const wanted = { filters, limit, signal, ...(cursor !== undefined && { cursor }) };
    const page = await fetchAsks(wanted);
    // What comes for other filters than those of now is too late.
    const name = listName(filters);
    if (signal.aborted || listName(newest.current.filters) !== name) return;
    if (!isFiltered(filters)) waitingCount.set(page.total);
    setFound((now) =>
      listName(now.filters) === name
        ? { ...now, known: withPage(now.known, page, cursor === undefined) }
        : now,
    );
  };
  const { soon } = usePoll(
    (signal) => {
      const { length } = newest.current.known.asks;
      return fetchPage(Math.min(REFRESHED_ROWS_MAX, Math.max(PAGE_ROWS, length)), signal);
    },
    { everyMs: LOOK_MS, name: listName(found.filters) },
  );
  // Nobody counts while another view is open.
  useEffect(() => () => waitingCount.set(undefined), []);
  const fetchMore = useOneAtATime(async (signal) => {
    const { next } = newest.current.known;
    if (next !== undefined) await fetchPage(FURTHER_ROWS, signal, next);
  });
  const { asks, next } = found.known;
  const wantsAll = isArranged(found.filters) && asks.length < ARRANGED_MAX;
  useEffect(() => {
    if (wantsAll && next !== undefined) void fetchMore();
  }, [wantsAll, next, asks.length]);
  return {
    ...found.known,
    filters: found.filters,
    filter: (filters) => {
      keep(FILTERS, filters);
      setFound((now) => {
        const isSame = listName(now.filters) === listName(filters);
        return { filters, known: isSame ? now.known : NO_ASKS };
      });
    },
    fetchMore,
    soon,
  };
}

/** What fails is tried again by the next press or scroll. */
function useOneAtATime(work: (signal: AbortSignal) => Promise<void>): () => Promise<void> {
  const newest = useRef(work);
  newest.current = work;
  const underWay = useRef<Promise<void> | undefined>(undefined);
  const leaving = useRef(new AbortController());
  useEffect(() => () => leaving.current.abort(), []);
  const begin = useRef((): Promise<void> => {
    underWay.current ??= newest
      .current(leaving.current.signal)
      .catch(() => {})
      .finally(() => (underWay.current = undefined));
    return underWay.current;
  });
  return begin.current;
}
