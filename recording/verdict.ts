/** Two paths compared by their digests, each place beside its like. */
import { aligned, ROWS_TOGETHER, sharedOnce, type Aligned, type SharedOnce } from './align.js';
import type { DiffOptions, Sketch } from './sketch.js';

/** Rows of a difference. */
const ROWS_MAX = 1_000;

/** How two paths differ, by the places of their entries. */
export interface Verdict {
  /** How far both paths are the same, place by place; absent: they are to the end. */
  readonly first?: number;
  /** The first decision that only one has, or that both have otherwise; absent: there is none. */
  readonly decision?: Aligned;
  readonly inAction: boolean;
  /** Places that differ in words alone. */
  readonly texts: number;
  /** From the first difference on, at most ROWS_MAX. */
  readonly rows: readonly Aligned[];
  /** Actions that each path has once and that do not stand near each other: rows between them have others beside them. */
  readonly apart: number;
}

export function comparedSketches(a: Sketch, b: Sketch, { actions }: DiffOptions): Verdict {
  let first: number | undefined;
  let decision: Aligned | undefined;
  let inAction = false;
  let texts = 0;
  const rows: Aligned[] = [];
  const rowOf = { a: new Uint32Array(a.length), b: new Uint32Array(b.length) };
  let count = 0;
  for (const row of aligned(a, b)) {
    count += 1;
    if (row.a !== undefined) rowOf.a[row.a] = count;
    if (row.b !== undefined) rowOf.b[row.b] = count;
    const differs = differenceIn(a, b, row);
    if (differs === 'words') texts += 1;
    if (differs === 'action' || (differs === 'words' && !actions)) {
      // Up to there both stand at the same place; of an entry that one path alone has, the other is there too.
      first ??= row.a ?? row.b;
    }
    if (first !== undefined && rows.length < ROWS_MAX) rows.push(row);
    if (differs !== 'action') continue;
    inAction = true;
    if (isDecidedIn(a, row.a) || isDecidedIn(b, row.b)) decision ??= row;
  }
  return {
    ...(first !== undefined && { first }),
    ...(decision !== undefined && { decision }),
    inAction,
    texts,
    rows,
    apart: inAction && count > ROWS_TOGETHER ? apartIn(sharedOnce(a, b), rowOf) : 0,
  };
}

type RowsOf = Readonly<Record<'a' | 'b', Uint32Array>>;

function apartIn(shared: readonly SharedOnce[], rowOf: RowsOf): number {
  return shared.filter(({ a, b }) => Math.abs(rowOf.a[a]! - rowOf.b[b]!) > ROWS_TOGETHER).length;
}

function isDecidedIn(sketch: Sketch, place: number | undefined): boolean {
  return place !== undefined && sketch.isDecided(place);
}

export function differenceIn(a: Sketch, b: Sketch, row: Aligned): 'action' | 'words' | undefined {
  if (row.a === undefined || row.b === undefined) return 'action';
  if (!a.action(row.a).equals(b.action(row.b))) return 'action';
  return a.words(row.a).equals(b.words(row.b)) ? undefined : 'words';
}
