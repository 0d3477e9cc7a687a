/**
 * Text from outside, made so that it can do nothing: it is cut, and characters that nobody sees or that turn text
 * around become pieces of their own, to be shown by their names. Pure.
 */
import { UNSEEN_OR_UNKNOWN } from '../../../pure/unseen.js';

const UNSEEN = new RegExp(`[${UNSEEN_OR_UNKNOWN}]`, 'u');
const PIECES = new RegExp(`(\\r\\n|[\\n\\t]|${UNSEEN.source})`, 'gu');
/** More marks on one letter than any language has: they would cover other lines. */
const STACKED_MARKS = /(\p{M}{4})\p{M}+/gu;
/** As long as no word goes on without a space for as long as this, one part. */
const LONG_WORD_PARTS = /(?:\S{0,99}\s+)*\S{0,100}/gu;
const CHIPS_MAX = 2_000;

const NAMES: { readonly [code: number]: string } = {
  0x07: 'BEL',
  0x08: 'BS',
  0x0d: 'CR',
  0x1b: 'ESC',
  0xad: 'SHY',
  0x200b: 'ZWSP',
  0x200c: 'ZWNJ',
  0x200d: 'ZWJ',
  0x200e: 'LRM',
  0x200f: 'RLM',
  0x202a: 'LRE',
  0x202b: 'RLE',
  0x202c: 'PDF',
  0x202d: 'LRO',
  0x202e: 'RLO',
  0x2066: 'LRI',
  0x2067: 'RLI',
  0x2068: 'FSI',
  0x2069: 'PDI',
  0xfeff: 'BOM',
};

/** A text; a character that cannot be seen, by its name; or a place where a very long word may be broken. */
export type Piece =
  | string
  | { readonly kind: 'chip'; readonly name: string; readonly number: string }
  | typeof MAY_BREAK;

/** Browsers take many seconds to find such places by themselves. */
const MAY_BREAK = { kind: 'break' } as const;

export function piecesOf(text: string, isLine: boolean): readonly Piece[] {
  let chips = 0;
  return text
    .replace(STACKED_MARKS, '$1')
    .split(PIECES)
    .filter((piece) => piece !== '')
    .flatMap((piece) => {
      if (piece === '\n' || piece === '\r\n') return isLine ? ' ⏎ ' : '\n';
      if (piece === '\t') return '\t';
      if (!UNSEEN.test(piece)) return withBreaks(piece);
      chips += 1;
      // A text of nothing else must not become a hundred thousand elements.
      return chips > CHIPS_MAX ? '\uFFFD' : chipOf(piece);
    });
}

function withBreaks(text: string): readonly Piece[] {
  const parts = (text.match(LONG_WORD_PARTS) ?? []).filter((part) => part !== '');
  return parts.flatMap((part, place) => (place === 0 ? [part] : [MAY_BREAK, part]));
}

function chipOf(character: string): Piece {
  const code = character.codePointAt(0) ?? 0;
  const number = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return { kind: 'chip', name: NAMES[code] ?? number, number };
}

/** Never ends in half of a surrogate pair. */
export function beginningOf(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const splits = /[\uD800-\uDBFF]/.test(text.charAt(charsMax - 1));
  return text.slice(0, splits ? charsMax - 1 : charsMax);
}

export function firstLinesOf(text: string, linesMax: number): string {
  let end = -1;
  for (let line = 0; line < linesMax; line += 1) {
    end = text.indexOf('\n', end + 1);
    if (end < 0) return text;
  }
  return text.slice(0, end);
}

/** For attributes and titles. */
export function inertText(text: string, charsMax = 120): string {
  const kept = beginningOf(text, charsMax).replace(new RegExp(UNSEEN.source, 'gu'), '\uFFFD');
  return kept.length < text.length ? `${kept}…` : kept;
}

const SCRIPTS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u];
const COMPARED_CHARS = 2_000;

/** Letters of several alphabets in one word look like letters of one. */
export function mixesAlphabets(text: string): boolean {
  const words = text.slice(0, COMPARED_CHARS).split(/[^\p{L}]+/u);
  return words.some((word) => SCRIPTS.filter((script) => script.test(word)).length > 1);
}
