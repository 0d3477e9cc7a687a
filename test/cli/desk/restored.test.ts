/** Which runs a restored copy may have lost, and where the questions of such runs stand in a list. */
import { mergedPage, type Page } from '../../../cli/desk/paging.js';
import { isOfCopy } from '../../../cli/desk/restored.js';
import { cursorOf } from '../../../console/http/cursor.js';

test.each([
  ['of this store, from before', { startedAt: 4, store: 'own' }, true],
  ['of this store, from after', { startedAt: 6, store: 'own' }, false],
  ['of another store', { startedAt: 4, store: 'other' }, false],
  ['that names no store, from before', { startedAt: 4 }, true],
])('a run %s: %j', (_, run, may) => {
  expect(isOfCopy(run, 'own', 5)).toBe(may);
});

type Row = readonly [at: number, id: string];
const placeOfRow = ([at, id]: Row) => ({ at, id });
const STORED: readonly Row[] = [
  [1, 'a'],
  [3, 'b'],
  [5, 'c'],
];
const LACKED: readonly Row[] = [
  [2, 'x'],
  [3, 'y'],
  [9, 'z'],
];

test.each([1, 2, 3, 4, 10])('pages of %i rows tell every question once, in one order', (limit) => {
  const told: Row[] = [];
  let cursor: ReturnType<typeof placeOfRow> | undefined;
  for (let pages = 0; pages < 10; pages += 1) {
    const rows = STORED.filter(
      ([at, id]) => cursor === undefined || at > cursor.at || (at === cursor.at && id > cursor.id),
    );
    const items = rows.slice(0, limit);
    const end = items.at(-1);
    const page: Page<Row> = {
      items,
      ...(items.length === limit && end && { next: cursorOf(...end) }),
    };
    const merged = mergedPage<Row>(page, LACKED, { limit, cursor, placeOfRow });
    expect(merged.items.length).toBeLessThanOrEqual(limit);
    told.push(...merged.items);
    const last = merged.items.at(-1);
    if (merged.next === undefined || last === undefined) break;
    expect(merged.next).toBe(cursorOf(...last));
    cursor = placeOfRow(last);
  }
  expect(told.map(([, id]) => id).join('')).toBe('axbycz');
});
