/** Columns as wide as their widest cell; the last column is not padded. Cells are made inert here. */
import { inert } from './inert.js';
import { PLAIN, type Paint } from './paint.js';

const CELL_CHARS_MAX = 130;

export interface Table {
  readonly head: readonly string[];
  readonly rows: Iterable<readonly string[]>;
  readonly paint?: Paint;
}

export function table({ head, rows, paint = PLAIN }: Table): string {
  const shown = Array.from(rows, (row) => row.map((cell) => inert(cell, CELL_CHARS_MAX)));
  const widths = head.map((title, column) =>
    shown.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), title.length),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  return [paint.dim(line(head)), ...shown.map(line)].join('\n');
}
