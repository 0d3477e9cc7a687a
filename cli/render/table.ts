/** Columns as wide as their widest cell; the last column is not padded. Cells are made inert here. */
import { inert } from './inert.js';
import { PLAIN, type Paint } from './paint.js';

const CELL_CHARS_MAX = 130;

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly paint?: Paint;
}

export function table({ head, rows, paint = PLAIN }: Table): string {
  const cells = rows.map((row) => row.map((cell) => inert(cell, CELL_CHARS_MAX)));
  const widths = head.map((title, column) =>
    Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  return [paint.dim(line(head)), ...cells.map(line)].join('\n');
}
