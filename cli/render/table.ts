/**
 * Columns as wide as their widest cell; the last column is not padded. Cells are made inert here.
 * In a terminal that is narrower each row is a block: its first cell on a line of its own, and nothing is left out.
 */
import { columnsOf, folded } from './folded.js';
import { inert } from './inert.js';
import { PLAIN, type Paint } from './paint.js';

const CELL_CHARS_MAX = 130;
const GAP = '  ';
/** What a terminal must have left for the last column, whose text is broken between words. */
const LAST_CHARS_MIN = 20;

export interface Table {
  readonly head: readonly string[];
  readonly rows: Iterable<readonly string[]>;
  readonly paint?: Paint;
}

export function table({ head, rows, paint = PLAIN }: Table): string {
  const shown = Array.from(rows, (row) => row.map((cell) => inert(cell, CELL_CHARS_MAX)));
  const widths = head.map((title, column) => longest([title, ...shown.map((row) => row[column])]));
  const { columns = Infinity } = paint;
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  const words = shown.flatMap((row) => row[head.length - 1]?.split(' ') ?? []);
  const least = Math.min(widths.at(-1) ?? 0, Math.max(longest(words), LAST_CHARS_MIN));
  if (shown.length > 0 && before + least > columns) {
    return shown.map((row) => blockOf(head, row, { paint, columns })).join('\n');
  }
  const line = (row: readonly string[]): string => {
    const padded = row.map((cell, column) =>
      column === row.length - 1 ? cell : cell + ' '.repeat((widths[column] ?? 0) - columnsOf(cell)),
    );
    const last = folded(padded.pop() ?? '', columns - before);
    return [...padded, last.join(`\n${' '.repeat(before)}`)].join(GAP).trimEnd();
  };
  return [paint.dim(line(head)), ...shown.map(line)].join('\n');
}

function longest(texts: readonly (string | undefined)[]): number {
  return texts.reduce((most, text = '') => Math.max(most, columnsOf(text)), 0);
}

interface Narrow {
  readonly paint: Paint;
  readonly columns: number;
}

/** As many cells on a line as it takes, each behind its title. */
function blockOf(
  head: readonly string[],
  row: readonly string[],
  { paint, columns }: Narrow,
): string {
  const cells = row.flatMap((cell, column) =>
    cell === '' ? [] : `${paint.dim(head[column] ?? '')} ${cell}`,
  );
  const [first = '', ...others] = cells;
  const lines = [first];
  let last = '';
  for (const cell of others) {
    const next = `${last}${GAP}${cell}`;
    if (last === '' || columnsOf(next) <= columns) last = next;
    else {
      lines.push(last);
      last = `${GAP}${cell}`;
    }
  }
  return [...lines, ...(last === '' ? [] : [last])]
    .flatMap((line) => folded(line, columns, { hanging: GAP + GAP }))
    .join('\n');
}
