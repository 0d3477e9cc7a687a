/**
 * What of a text its reader has from the worker itself: lines that the worker put into arguments, notes or state come
 * back in results, and prove nothing.
 * Invariants: marks are those of the caller, which nobody else can know; total and bounded, whatever comes in; nothing of
 * the text is lost.
 */
import type { Json } from '../../core/json/json.js';

/** Shorter pieces are in many texts by chance: numbers, names, words. */
const PIECE_CHARS_MIN = 12;
/** Of all that the worker said; newer words come first. */
const SAID_CHARS_MAX = 64 * 1024;
const PIECES_MAX = 2_000;
const DEPTH_MAX = 32;

/** The lines of everything that the worker put in. */
export function piecesOf(values: Iterable<Json>): readonly string[] {
  const pieces = new Set<string>();
  let chars = 0;
  for (const piece of linesOf(values)) {
    if (piece.length < PIECE_CHARS_MIN || pieces.has(piece)) continue;
    chars += piece.length;
    if (chars > SAID_CHARS_MAX || pieces.size >= PIECES_MAX) break;
    pieces.add(piece);
    // As it stands within JSON.
    pieces.add(JSON.stringify(piece).slice(1, -1));
  }
  return [...pieces];
}

function* linesOf(values: Iterable<Json>): Generator<string> {
  for (const value of values) {
    for (const text of textsOf(value, 0)) {
      for (const line of text.split(/[\r\n]+/)) yield line.trim();
    }
  }
}

function* textsOf(value: Json, depth: number): Generator<string> {
  if (typeof value === 'string') yield value;
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return;
  for (const inner of Object.values(value) as readonly Json[]) yield* textsOf(inner, depth + 1);
}

export interface EchoMarks {
  readonly before: string;
  readonly after: string;
}

/** The text with marks around what is the worker's own. */
export function withEchoes(text: string, pieces: readonly string[], marks: EchoMarks): string {
  const spans = merged([...occurrences(text, pieces), ...linesWithin(text, pieces)]);
  let shown = '';
  let end = 0;
  for (const [from, to] of spans) {
    shown += `${text.slice(end, from)}${marks.before}${text.slice(from, to)}${marks.after}`;
    end = to;
  }
  return shown + text.slice(end);
}

type Span = readonly [from: number, to: number];

function occurrences(text: string, pieces: readonly string[]): readonly Span[] {
  return pieces.flatMap((piece) => {
    const spans: Span[] = [];
    for (let at = text.indexOf(piece); at !== -1; at = text.indexOf(piece, at + piece.length)) {
      spans.push([at, at + piece.length]);
    }
    return spans;
  });
}

/** Lines of the text that are part of something longer that the worker said. */
function linesWithin(text: string, pieces: readonly string[]): readonly Span[] {
  const spans: Span[] = [];
  let from = 0;
  for (const line of text.split('\n')) {
    const own = line.trim();
    if (own.length >= PIECE_CHARS_MIN && pieces.some((piece) => piece.includes(own))) {
      const start = from + line.indexOf(own);
      spans.push([start, start + own.length]);
    }
    from += line.length + 1;
  }
  return spans;
}

function merged(spans: readonly Span[]): readonly Span[] {
  const sorted = [...spans].sort(([one], [other]) => one - other);
  const result: Span[] = [];
  for (const [from, to] of sorted) {
    const last = result.at(-1);
    if (last === undefined || from > last[1]) result.push([from, to]);
    else result[result.length - 1] = [last[0], Math.max(last[1], to)];
  }
  return result;
}
