/**
 * Lists in pages, the same from a store and from the desk.
 * Invariant: a cursor of the one is good for the other; what no list has made is refused before anything is asked.
 */
import type { Command } from 'commander';
import { cursorOf, placeIn, type Place } from '../../console/http/cursor.js';
import { SCANNED_MAX, type LeftOut } from '../../client/read/find-runs.js';
import type { DeskApi } from './desk-api.js';
import { usage, wholeNumber } from '../usage.js';

export interface PageOptions {
  readonly limit?: number;
  readonly cursor?: Place;
}

export interface Page<Row> {
  readonly items: readonly Row[];
  /** Where the next page begins; absent: there is none. */
  readonly next?: string;
  /** Of runs in another order than that of starts: why these are not all; absent: they are. */
  readonly left?: LeftOut;
  /** Why the store, or Temporal, does not tell what it knows. */
  readonly trouble?: string;
  /** When it was noticed that an older copy of the store had taken its place, lately; ms since epoch. */
  readonly restoredAt?: number;
}

/** Rows of a list without a word on it. */
export const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 1_000;
const TEXT_CHARS_MAX = 200;
/** Of one answer of the desk. */
const DESK_ROWS_MAX = 200;

export function withPages(command: Command): Command {
  return command
    .option(
      '--limit <count>',
      `at most this many (default ${LIMIT_DEFAULT})`,
      wholeNumber('--limit', [1, LIMIT_MAX]),
    )
    .option('--cursor <cursor>', 'go on where a list before has ended', (text) => {
      const place = placeIn(text);
      if (place !== undefined) return place;
      throw usage('--cursor is none that a list has given.', 'Take `next` of the list before.');
    });
}

/** For names and texts to look for. */
export function someText(name: string) {
  return (text: string): string => {
    const wanted = text.trim();
    if (wanted !== '' && wanted.length <= TEXT_CHARS_MAX) return wanted;
    throw usage(`${name} is a text of 1 to ${TEXT_CHARS_MAX} characters.`);
  };
}

/** What a store has listed, at most `limit` rows. */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  placeOfRow: (row: Row) => Place,
): Page<Row> {
  const last = rows.length >= limit ? rows.at(-1) : undefined;
  if (last === undefined) return { items: rows };
  const { at, id } = placeOfRow(last);
  return { items: rows, next: cursorOf(at, id) };
}

/** The same with rows from elsewhere, in one order and within the page's window: its `next` goes on behind both. */
export function mergedPage<Row>(
  page: Page<Row>,
  others: readonly Row[],
  { limit, cursor, placeOfRow }: Window<Row>,
): Page<Row> {
  const last = page.next === undefined ? undefined : page.items.at(-1);
  const isWithin = (row: Row): boolean =>
    (cursor === undefined || isBehind(placeOfRow(row), cursor)) &&
    (last === undefined || isBehind(placeOfRow(last), placeOfRow(row)));
  const all = [...page.items, ...others.filter(isWithin)].toSorted((a, b) =>
    isBehind(placeOfRow(a), placeOfRow(b)) ? 1 : -1,
  );
  const items = all.slice(0, limit);
  return items.length === all.length ? { ...page, items } : pageOf(items, limit, placeOfRow);
}

interface Window<Row> {
  readonly limit: number;
  readonly cursor?: Place | undefined;
  readonly placeOfRow: (row: Row) => Place;
}

function isBehind(one: Place, other: Place): boolean {
  return one.at === other.at ? one.id > other.id : one.at > other.at;
}

/** As many pages of the desk as `limit` rows take. */
export async function pagesAtDesk<Row>(
  api: DeskApi,
  path: string,
  { limit = LIMIT_DEFAULT, cursor, ...filter }: PageOptions & Filter,
): Promise<Page<Row>> {
  const items: Row[] = [];
  let left: Page<Row>['left'];
  let trouble: string | undefined;
  let restoredAt: number | undefined;
  let next = cursor && cursorOf(cursor.at, cursor.id);
  for (let wanted = limit; wanted > 0; wanted = limit - items.length) {
    const query = queryText({ ...filter, limit: Math.min(wanted, DESK_ROWS_MAX), cursor: next });
    const page = await api.get(`${path}?${query}`);
    const rows = page.items as readonly Row[];
    items.push(...rows);
    next = typeof page.next === 'string' ? page.next : undefined;
    left = page.left as typeof left;
    trouble ??= page.trouble as typeof trouble;
    restoredAt ??= page.restoredAt as typeof restoredAt;
    if (next === undefined || rows.length === 0) break;
  }
  return {
    items,
    ...(next !== undefined && { next }),
    ...(left && { left }),
    ...(trouble && { trouble }),
    ...(restoredAt && { restoredAt }),
  };
}

interface Filter {
  readonly [name: string]: unknown;
}

/** Parameters of a query; what is undefined is left out. */
export function queryText(parameters: Filter): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (typeof value === 'string' || typeof value === 'number') query.set(name, String(value));
  }
  return query.toString();
}

/** Said below a list that goes on. */
export function moreRemark({ next, left }: Page<unknown>): string | undefined {
  if (left === 'scanned')
    return `Only the newest ${SCANNED_MAX} runs were looked at: --until goes on.`;
  if (left)
    return `More runs fit: --limit shows up to ${LIMIT_MAX} of them, over a desk ${DESK_ROWS_MAX}.`;
  return next && `More follow: --cursor ${next}`;
}
