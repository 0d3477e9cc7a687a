/** Lists that are held as bytes give back what they were given, again and again. */
import { packedList } from '../../cli/commands/packed-list.js';
import { table, tableLines } from '../../cli/render/index.js';

test.each([0, 1, 63, 64, 65, 200])(
  'A list of %d values is gone through in order, twice.',
  (count) => {
    const values = Array.from({ length: count }, (_, at) => ({
      at,
      text: `ä${at}`,
      more: [{ at }],
    }));
    const list = packedList<(typeof values)[number]>();
    for (const value of values) list.push(value);
    expect(list.length).toBe(count);
    expect([...list]).toEqual(values);
    expect([...list]).toEqual(values);
  },
);

test('A table that comes line by line has the columns of its widest cells, wherever they stand.', () => {
  const rows = [
    ['1', 'short'],
    ['22', 'x'.repeat(40)],
    ['a longer one', 'end'],
  ];
  const shown = { head: ['a', 'b', 'c'], rows: rows.map((row) => [...row, 'last']) };
  const lines = [...tableLines(shown)];
  expect(lines.map((line) => line.lastIndexOf('  ') + 2)).toEqual([56, 56, 56, 56]);
  expect(lines.join('\n')).toBe(table(shown));
});
