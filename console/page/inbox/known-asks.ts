/** The questions of the list: pages of the server's, put together. Pure. */
import type { Ask, InboxPage } from '../data/api-types.js';

export interface InboxFilters {
  readonly search: string;
  readonly kind: string;
}

export interface KnownAsks {
  /** In the order in which they came, which is that of the server's list. */
  readonly asks: readonly Ask[];
  /** Where further ones begin; undefined: there are none. */
  readonly next: string | undefined;
  /** Undefined: nothing has been fetched. */
  readonly total: number | undefined;
}

export const NO_FILTERS: InboxFilters = { search: '', kind: '' };
export const NO_ASKS: KnownAsks = { asks: [], next: undefined, total: undefined };

export function isFiltered({ search, kind }: InboxFilters): boolean {
  return search.trim() !== '' || kind !== '';
}

/** The first page says what is there up to its end; a further one only adds. */
export function withPage(known: KnownAsks, page: InboxPage, isFirst: boolean): KnownAsks {
  const found = new Map(page.items.map((ask) => [ask.askId, ask]));
  const last = page.items.at(-1);
  const isCovered = ({ openedAt }: Ask): boolean =>
    page.next === undefined || last === undefined || openedAt <= last.openedAt;
  const kept = known.asks
    .filter((ask) => !isFirst || found.has(ask.askId) || !isCovered(ask))
    .map((ask) => found.get(ask.askId) ?? ask);
  const keptIds = new Set(kept.map(({ askId }) => askId));
  const added = page.items.filter(({ askId }) => !keptIds.has(askId));
  const wasWhole = known.asks.length <= page.items.length;
  const tellsNext = !isFirst || wasWhole || page.next === undefined;
  return {
    asks: [...kept, ...added],
    next: tellsNext ? page.next : known.next,
    total: page.total,
  };
}
