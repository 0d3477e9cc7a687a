/** Rows of a list, newest first, as pages of the server's are put together. Pure. */

export interface Rows<T> {
  readonly rows: readonly T[];
  /** Where older ones begin; undefined: there are none. */
  readonly next?: string | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly next?: string;
}

interface Reading<T> {
  readonly idOf: (row: T) => string;
  /** The page begins with the newest row. */
  readonly isNewest: boolean;
  /** As many as a page has at most. */
  readonly pageRows: number;
}

/** What the newest page covers and does not have is gone: a row that no longer fits the filters. */
export function withPage<T extends { readonly startedAt: number }>(
  { rows, next }: Rows<T>,
  page: Page<T>,
  { idOf, isNewest, pageRows }: Reading<T>,
): Rows<T> {
  const kept = isNewest ? rows.filter((row) => !isCovered(row, page)) : rows;
  const known = new Map([...kept, ...page.items].map((row) => [idOf(row), row]));
  // The newest page says where the next one begins only while it is the only one, or the last.
  const tellsNext = !isNewest || page.next === undefined || rows.length <= pageRows;
  return {
    rows: [...known.values()].sort((a, b) => b.startedAt - a.startedAt),
    next: tellsNext ? page.next : next,
  };
}

/** Rows that began with the last of the page may stand on the next one. */
function isCovered<T extends { readonly startedAt: number }>(row: T, { items, next }: Page<T>) {
  const last = items.at(-1);
  return next === undefined || last === undefined || row.startedAt > last.startedAt;
}
