/**
 * Two paths side by side: places of the same action stand beside each other again behind what only one path has. Of a
 * stretch that is longer than what is looked at together, an action that each path has once tells where both go on.
 * Invariants: the places of each path come in order, none is left out; what is looked at ahead is bounded, so that time
 * grows with the length of the paths alone.
 */
import type { Sketch } from './sketch.js';

/** Places in both paths; undefined: that path has nothing here. */
export interface Aligned {
  readonly a: number | undefined;
  readonly b: number | undefined;
}

/** Entries of each path that are looked at together. */
const WINDOW = 512;
/** Behind this many entries the rest of a window is looked at anew, with what follows. */
const SETTLED = WINDOW / 2;
/** More than all that the same kinds of a window are worth. */
const SAME_ACTION = WINDOW;
const SAME_KIND = 1;

/** Rows that are farther apart than this were perhaps never looked at together. */
export const ROWS_TOGETHER = SETTLED;

/** An action that each path has once: its places in both. */
interface SharedOnce {
  readonly a: number;
  readonly b: number;
}

/** In the order of the first path. */
function sharedOnce(a: Sketch, b: Sketch): readonly SharedOnce[] {
  const [left, right] = [onceIn(a), onceIn(b)];
  return [...left].flatMap(([action, place]) => {
    const other = right.get(action) ?? TWICE;
    return place === TWICE || other === TWICE ? [] : [{ a: place, b: other }];
  });
}

const TWICE = -1;
/** Of a digest: enough that no two actions of a path share them. */
const KEY_BYTES = 16;

/** Equal for the same action. */
export function actionKey(path: Sketch, place: number): string {
  return path.action(place).toString('latin1', 0, KEY_BYTES);
}

function onceIn(path: Sketch): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (let place = 0; place < path.length; place += 1) {
    const action = actionKey(path, place);
    places.set(action, places.has(action) ? TWICE : place);
  }
  return places;
}

export function* aligned(a: Sketch, b: Sketch): Generator<Aligned, void> {
  let shared: readonly SharedOnce[] | undefined;
  let [left, right] = [0, 0];
  while (left < a.length || right < b.length) {
    if (left < a.length && right < b.length && a.action(left).equals(b.action(right))) {
      yield { a: left, b: right };
      left += 1;
      right += 1;
      continue;
    }
    const places = [left, right] as const;
    let rows: readonly Aligned[] = [];
    if (Math.max(a.length - left, b.length - right) > WINDOW) {
      shared ??= sharedOnce(a, b);
      rows = rowsPassed(shared, places);
    }
    if (rows.length === 0) rows = windowRows([a, b], places);
    for (const row of rows) {
      yield row;
      if (row.a !== undefined) left = row.a + 1;
      if (row.b !== undefined) right = row.b + 1;
    }
  }
}

/** Those of a stretch that one path alone has, where a window would settle without its end; empty: it would not. */
function rowsPassed(
  shared: readonly SharedOnce[],
  [left, right]: readonly [number, number],
): readonly Aligned[] {
  let next: SharedOnce | undefined;
  for (const one of shared) {
    if (one.a < left || one.b < right) continue;
    if (next === undefined || one.a + one.b < next.a + next.b) next = one;
  }
  if (next === undefined) return [];
  const [ofA, ofB] = [next.a - left, next.b - right];
  if (Math.max(ofA, ofB) < WINDOW || Math.min(ofA, ofB) >= SETTLED) return [];
  return Array.from({ length: Math.abs(ofA - ofB) }, (_, index) =>
    ofA > ofB ? { a: left + index, b: undefined } : { a: undefined, b: right + index },
  );
}

function windowRows(
  [a, b]: readonly [Sketch, Sketch],
  [left, right]: readonly [number, number],
): readonly Aligned[] {
  const height = Math.min(WINDOW, a.length - left);
  const width = Math.min(WINDOW, b.length - right);
  const isAll = left + height === a.length && right + width === b.length;
  const worth = worthOf([a, b], [left, right], [height, width]);
  const scores = bestScores(worth, [height, width]);
  const score = (row: number, column: number): number => scores[row * (width + 1) + column]!;
  const rows: Aligned[] = [];
  let [row, column] = [0, 0];
  while (row < height || column < width) {
    if (!isAll && (row >= SETTLED || column >= SETTLED)) break;
    const best = score(row, column);
    const isBoth = row < height && column < width;
    if (isBoth && best === worth(row, column) + score(row + 1, column + 1)) {
      rows.push({ a: left + row, b: right + column });
      row += 1;
      column += 1;
    } else if (row < height && (column === width || best === score(row + 1, column))) {
      rows.push({ a: left + row, b: undefined });
      row += 1;
    } else {
      rows.push({ a: undefined, b: right + column });
      column += 1;
    }
  }
  return rows;
}

type Worth = (row: number, column: number) => number;

function worthOf(
  [a, b]: readonly [Sketch, Sketch],
  [left, right]: readonly [number, number],
  [height, width]: readonly [number, number],
): Worth {
  // Small numbers in place of digests: each is compared with a whole window.
  const numbers = new Map<string, number>();
  const numbered = (digest: Buffer): number => {
    const key = digest.toString('latin1');
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  };
  const places = (sketch: Sketch, from: number, length: number) =>
    Array.from({ length }, (_, index) => ({
      action: numbered(sketch.action(from + index)),
      kind: sketch.kind(from + index),
    }));
  const [rows, columns] = [places(a, left, height), places(b, right, width)];
  return (row, column) => {
    const [one, other] = [rows[row]!, columns[column]!];
    if (one.action === other.action) return SAME_ACTION;
    return one.kind === other.kind ? SAME_KIND : 0;
  };
}

/** Of each place the most that the rest of both windows can be worth. */
function bestScores(worth: Worth, [height, width]: readonly [number, number]): Uint32Array {
  const line = width + 1;
  const scores = new Uint32Array((height + 1) * line);
  for (let row = height - 1; row >= 0; row -= 1) {
    for (let column = width - 1; column >= 0; column -= 1) {
      const at = row * line + column;
      scores[at] = Math.max(
        worth(row, column) + scores[at + line + 1]!,
        scores[at + line]!,
        scores[at + 1]!,
      );
    }
  }
  return scores;
}
