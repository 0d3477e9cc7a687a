/** Two paths compared by their digests, each place beside its like. */
import { actionKey, aligned, ROWS_TOGETHER, type Aligned } from './align.js';
import type { DiffOptions, Sketch } from './sketch.js';

/** Rows of a difference. */
const ROWS_MAX = 1_000;

/** How two paths differ, by the places of their entries. */
export interface PathsCompared {
  /** How far both paths are the same, place by place; absent: they are to the end. */
  readonly first?: number;
  /** The first decision that only one has, or that both have otherwise; absent: there is none. */
  readonly decision?: Aligned;
  readonly inAction: boolean;
  /** Places that differ in words alone. */
  readonly texts: number;
  /** From the first difference on, at most ROWS_MAX. */
  readonly rows: readonly Aligned[];
  /** Actions of both paths that stand beside no like, and far apart: rows between them have others beside them. */
  readonly apart: number;
}

export function comparedSketches(a: Sketch, b: Sketch, { actions }: DiffOptions): PathsCompared {
  let first: number | undefined;
  let decision: Aligned | undefined;
  let inAction = false;
  let texts = 0;
  const rows: Aligned[] = [];
  const apart = apartIn(a, b);
  let count = 0;
  for (const row of aligned(a, b)) {
    count += 1;
    const differs = differenceIn(a, b, row);
    if (differs === 'words') texts += 1;
    if (differs === 'action' || (differs === 'words' && !actions)) {
      // Up to there both stand at the same place; of an entry that one path alone has, the other is there too.
      first ??= row.a ?? row.b;
    }
    if (first !== undefined && rows.length < ROWS_MAX) rows.push(row);
    if (differs !== 'action') continue;
    inAction = true;
    apart.row(row, count);
    if (isDecidedIn(a, row.a) || isDecidedIn(b, row.b)) decision ??= row;
  }
  return {
    ...(first !== undefined && { first }),
    ...(decision !== undefined && { decision }),
    inAction,
    texts,
    rows,
    apart: apart.count(),
  };
}

/**
 * Hears the rows that differ in action. An action that comes again is paired in order: the oldest that is left over in one
 * path with the next one in the other, also where a later one stands nearer.
 */
function apartIn(a: Sketch, b: Sketch) {
  const left: LeftOver = new Map();
  const right: LeftOver = new Map();
  let apart = 0;
  function hear(action: string, row: number, [own, other]: readonly [LeftOver, LeftOver]): void {
    const theirs = other.get(action);
    if (theirs !== undefined) {
      const first = theirs.rows[theirs.next] ?? row;
      theirs.next += 1;
      if (theirs.next === theirs.rows.length) other.delete(action);
      if (row - first > ROWS_TOGETHER) apart += 1;
      return;
    }
    const ours = own.get(action);
    if (ours === undefined) own.set(action, { rows: [row], next: 0 });
    else ours.rows.push(row);
  }
  return {
    row(places: Aligned, row: number): void {
      if (places.a !== undefined) hear(actionKey(a, places.a), row, [left, right]);
      if (places.b !== undefined) hear(actionKey(b, places.b), row, [right, left]);
    },
    count: () => apart,
  };
}

/** By the key of their action: rows, of which those before `next` are paired. */
type LeftOver = Map<string, { readonly rows: number[]; next: number }>;

function isDecidedIn(sketch: Sketch, place: number | undefined): boolean {
  return place !== undefined && sketch.isDecided(place);
}

export function differenceIn(a: Sketch, b: Sketch, row: Aligned): 'action' | 'words' | undefined {
  if (row.a === undefined || row.b === undefined) return 'action';
  if (!a.action(row.a).equals(b.action(row.b))) return 'action';
  return a.words(row.a).equals(b.words(row.b)) ? undefined : 'words';
}
