/** Columns as wide as their widest cell; the last column is not padded. Cells are made inert here. */
import { inert } from './inert.js';
import { PLAIN, type Paint } from './paint.js';

const CELL_CHARS_MAX = 130;

export interface Table {
  readonly head: readonly string[];
  /** Gone through twice. */
  readonly rows: Iterable<readonly string[]>;
  readonly paint?: Paint;
}

export function table({ head, rows, paint = PLAIN }: Table): string {
  const cells = (row: readonly string[]) => row.map((cell) => inert(cell, CELL_CHARS_MAX));
  let widths = head.map(({ length }) => length);
  for (const row of rows) {
    const shown = cells(row);
    widths = widths.map((width, column) => Math.max(width, shown[column]?.length ?? 0));
  }
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  const lines = [paint.dim(line(head))];
  for (const row of rows) lines.push(line(cells(row)));
  return lines.join('\n');
}
