/**
 * Text from outside, shown so that it can do nothing: it is cut with a notice, characters that nobody sees or
 * that turn text around are shown by their names, and its direction ends with it.
 */
import { el } from './dom.js';

/** Control characters, format characters (bidi, zero width, tags), letters that look like nothing, halves. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u115F\u1160\u3164\uFFA0\u2800]/u;
const PIECES = new RegExp(`(\\r\\n|[\\n\\t]|${UNSEEN.source})`, 'gu');
/** More marks on one letter than any language has: they would cover other lines. */
const STACKED_MARKS = /(\p{M}{4})\p{M}+/gu;

/** As long as no word goes on without a space for as long as this, one part. */
const LONG_WORD_PARTS = /(?:\S{0,99}\s+)*\S{0,100}/gu;

const CHARS_SHOWN = 1_200;
const LINES_SHOWN = 25;
/** What one press on the notice adds. */
const CHARS_MORE = 100_000;
const CHIPS_MAX = 2_000;

/** @type {{ readonly [code: number]: string }} */
const NAMES = {
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

/** @typedef {{ readonly charsMax?: number, readonly linesMax?: number, readonly more?: () => Promise<string> }} Options */

/**
 * Several lines. `more` gets the whole text where `text` is only its beginning.
 * @param {string} text
 * @param {Options & { readonly charsInAll?: number }} [options]
 */
export function inertBlock(text, options = {}) {
  const block = el('span', { class: 'outside block', dir: 'auto' });
  showIn(block, text, options);
  return block;
}

/**
 * One line: line breaks are shown too.
 * @param {string} text
 * @param {number} [charsMax]
 */
export function inertLine(text, charsMax = 200) {
  const kept = beginning(text, charsMax);
  const line = el('bdi', { class: 'outside' }, ...pieces(kept, true));
  if (kept.length < text.length) line.append(el('span', { class: 'cut' }, cutNotice(text, kept)));
  return line;
}

/**
 * @param {HTMLElement} block
 * @param {string} text
 * @param {Options & { readonly charsInAll?: number }} options
 */
function showIn(block, text, options) {
  const {
    charsMax = CHARS_SHOWN,
    linesMax = LINES_SHOWN,
    charsInAll = text.length,
    more,
  } = options;
  const kept = firstLines(beginning(text, charsMax), linesMax);
  block.replaceChildren(...pieces(kept, false));
  if (kept.length >= charsInAll) return;
  const hidden = (charsInAll - kept.length).toLocaleString('en');
  const notice = el('span', { class: 'cut' }, `${hidden} more characters are not shown. `);
  const wider = el('button', { type: 'button', class: 'link' }, 'Show more');
  const widen = async () => {
    const whole = text.length < charsInAll && more !== undefined ? await more() : text;
    const chars = Math.max(whole.length, charsInAll);
    const wide = { charsMax: kept.length + CHARS_MORE, linesMax: Number.POSITIVE_INFINITY };
    showIn(block, whole, { ...options, ...wide, charsInAll: chars });
  };
  wider.addEventListener('click', () => void widen().catch(() => {}));
  notice.append(wider);
  block.append(notice);
}

/**
 * @param {string} text
 * @param {string} kept
 */
function cutNotice(text, kept) {
  return `… (+${(text.length - kept.length).toLocaleString('en')} characters)`;
}

/**
 * Never ends in half of a surrogate pair.
 * @param {string} text
 * @param {number} charsMax
 */
function beginning(text, charsMax) {
  if (text.length <= charsMax) return text;
  const splits = /[\uD800-\uDBFF]/.test(text.charAt(charsMax - 1));
  return text.slice(0, splits ? charsMax - 1 : charsMax);
}

/**
 * @param {string} text
 * @param {number} linesMax
 */
function firstLines(text, linesMax) {
  let end = -1;
  for (let line = 0; line < linesMax; line += 1) {
    end = text.indexOf('\n', end + 1);
    if (end < 0) return text;
  }
  return text.slice(0, end);
}

/**
 * Text and chips for what cannot be seen.
 * @param {string} text
 * @param {boolean} isLine
 * @returns {(string | HTMLElement)[]}
 */
function pieces(text, isLine) {
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
      return chips > CHIPS_MAX ? '\uFFFD' : chip(piece);
    });
}

/**
 * Places where a very long word may be broken: browsers take many seconds to find them by themselves.
 * @param {string} text
 * @returns {(string | HTMLElement)[]}
 */
function withBreaks(text) {
  const parts = (text.match(LONG_WORD_PARTS) ?? []).filter((part) => part !== '');
  return parts.flatMap((part, place) => (place === 0 ? [part] : [el('wbr'), part]));
}

/** @param {string} character */
function chip(character) {
  const code = character.codePointAt(0) ?? 0;
  const number = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  const name = NAMES[code] ?? number;
  return el('span', { class: 'chip', title: `${number}: a character that cannot be seen` }, name);
}

/**
 * The same without elements, for attributes and titles.
 * @param {string} text
 * @param {number} [charsMax]
 */
export function inertText(text, charsMax = 120) {
  const kept = beginning(text, charsMax).replace(new RegExp(UNSEEN.source, 'gu'), '\uFFFD');
  return kept.length < text.length ? `${kept}…` : kept;
}

const SCRIPTS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u];

/**
 * Letters of several alphabets in one word look like letters of one.
 * @param {string} text
 */
export function mixesAlphabets(text) {
  const words = text.slice(0, 2_000).split(/[^\p{L}]+/u);
  return words.some((word) => SCRIPTS.filter((script) => script.test(word)).length > 1);
}
