/** The questions of the list: pages of the server's, put together. Pure. */
import type { InboxPage, ListedAsk } from '../data/api-types.js';

export interface InboxFilters {
  readonly search: string;
  readonly kind: string;
  /** Those that wait, or those that have ended, the newest first. */
  readonly state: 'pending' | 'decided';
  /** Only those that this person may decide on. */
  readonly isMine: boolean;
  readonly order: 'time' | 'expiry' | 'amount';
}

export interface KnownAsks {
  /** In the order in which they came, which is that of the server's list. */
  readonly asks: readonly ListedAsk[];
  /** Where further ones begin; undefined: there are none. */
  readonly next: string | undefined;
  /** Undefined: nothing has been fetched. */
  readonly total: number | undefined;
}

export const NO_FILTERS: InboxFilters = {
  search: '',
  kind: '',
  state: 'pending',
  isMine: false,
  order: 'time',
};
/** Questions that are looked at when they are put into another order than that of the server. */
export const ARRANGED_MAX = 1_000;
export const NO_ASKS: KnownAsks = { asks: [], next: undefined, total: undefined };

export function isFiltered({ search, kind, state }: InboxFilters): boolean {
  return search.trim() !== '' || kind !== '' || state !== 'pending';
}

/** The server knows neither whose they are nor how much they are about: all of them are fetched. */
export function isArranged({ isMine, order }: InboxFilters): boolean {
  return isMine || order !== 'time';
}

/** What the server lists: another one is another list. */
export function listName({ search, kind, state }: InboxFilters): string {
  return JSON.stringify([search.trim(), kind, state]);
}

/** The first page says what is there up to its end; a further one only adds. */
export function withPage(known: KnownAsks, page: InboxPage, isFirst: boolean): KnownAsks {
  const found = new Map(page.items.map((ask) => [ask.askId, ask]));
  const last = page.items.at(-1);
  const isNewestFirst = last !== undefined && (page.items[0]?.openedAt ?? 0) > last.openedAt;
  const isCovered = ({ openedAt }: ListedAsk): boolean =>
    page.next === undefined ||
    last === undefined ||
    (isNewestFirst ? openedAt >= last.openedAt : openedAt <= last.openedAt);
  const kept = known.asks
    .filter((ask) => !isFirst || found.has(ask.askId) || !isCovered(ask))
    .map((ask) => found.get(ask.askId) ?? ask);
  const keptIds = new Set(kept.map(({ askId }) => askId));
  const added = page.items.filter(({ askId }) => !keptIds.has(askId));
  const wasWhole = known.asks.length <= page.items.length;
  const tellsNext = !isFirst || wasWhole || page.next === undefined;
  return {
    // Of a list with the newest first, new ones come at its beginning.
    asks: isFirst && isNewestFirst ? inOrderOf(page, kept, added) : [...kept, ...added],
    next: tellsNext ? page.next : known.next,
    total: page.total,
  };
}

function inOrderOf(
  page: InboxPage,
  kept: readonly ListedAsk[],
  added: readonly ListedAsk[],
): readonly ListedAsk[] {
  const fresh = new Map([...kept, ...added].map((ask) => [ask.askId, ask]));
  const inPage = page.items.flatMap(({ askId }) => fresh.get(askId) ?? []);
  const ids = new Set(inPage.map(({ askId }) => askId));
  return [...inPage, ...kept.filter(({ askId }) => !ids.has(askId))];
}
