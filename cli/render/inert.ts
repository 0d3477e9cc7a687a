/**
 * Text from models, tools and users, made inert: it may be hostile, and it is shown on a terminal where
 * people decide about money. Invariants: no control character, escape sequence or invisible character
 * leaves here; what was cut is said.
 */
import { UNSEEN as UNSEEN_CLASS } from '../../pure/unseen.js';

/** Sequences that a terminal obeys: CSI, OSC and the like, and two-character escapes. */
const SEQUENCES =
  // eslint-disable-next-line no-control-regex
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|(?:\u001B[\]PX^_]|[\u009D\u0090\u0098\u009E\u009F])[^\u0007\u001B\u009C]{0,4096}(?:\u0007|\u001B\\|\u009C)|\u001B[ -/]*[0-~]/g;
const LINE_BREAKS = /\r\n|[\n\r\u0085\u2028\u2029]/;
const UNSEEN = new RegExp(`[${UNSEEN_CLASS}]`, 'gu');
/** The same in JSON, which escapes lower controls itself; its own line breaks stay. */
const UNSEEN_IN_JSON = new RegExp(`(?![\\0-\\x1F])[${UNSEEN_CLASS}\\xA0]`, 'gu');
const LONE_SURROGATE = /\p{Surrogate}/gu;
/** Marks stacked on one letter beyond this many would cover the lines around it. */
const STACKED_MARKS = /(\p{M}{4})\p{M}+/gu;

const LINE_CHARS_MAX = 200;
const BLOCK_CHARS_MAX = 4_000;
const BLOCK_LINES_MAX = 60;
/** What is looked at of a text at all. */
const INPUT_CHARS_MAX = 200_000;

/** Nothing of it is hidden or changed below: most of what is shown is such a line. */
const PLAIN_LINE = /^[!-~]+(?: [!-~]+)*$/;

/** One line; line breaks become spaces. */
export function inert(text: string, charsMax: number = LINE_CHARS_MAX): string {
  if (text.length <= charsMax && PLAIN_LINE.test(text)) return text;
  const { kept, cut } = bounded(text);
  const line = cleanLine(kept.split(LINE_BREAKS).join(' ')).replace(/\s+/g, ' ').trim();
  return cutWithNotice(line, charsMax, cut);
}

/** Several lines, each clean; what is too much is said in a last line. */
export function inertLines(text: string, charsMax: number = BLOCK_CHARS_MAX): readonly string[] {
  const { kept, cut } = bounded(text);
  const whole = kept.split(LINE_BREAKS).map(cleanLine).join('\n');
  const shown = firstChars(whole, charsMax);
  const lines = shown.split('\n');
  const visible = lines.slice(0, BLOCK_LINES_MAX);
  const hiddenChars = whole.length + cut - visible.join('\n').length;
  return hiddenChars > 0 ? [...visible, moreChars(hiddenChars)] : visible;
}

/**
 * A document of any length, whole: what cannot be seen is left out, and what is left of a sequence is plain
 * text. Unlike a line it is not searched for whole sequences, which would take too long in a long text.
 */
export function inertText(text: string): string {
  const clean = (line: string): string =>
    line.replace(/\t/g, '  ').replace(UNSEEN, '').replace(LONE_SURROGATE, '\uFFFD');
  return text
    .split(LINE_BREAKS)
    .map((line) => clean(line).replace(STACKED_MARKS, '$1'))
    .join('\n');
}

/** JSON on several lines, exact: what cannot be seen is written as an escape and never left out. */
export function inertJson(
  value: unknown,
  charsMax: number = 4 * BLOCK_CHARS_MAX,
): readonly string[] {
  const text = exactJson(value, 2);
  if (text.length <= charsMax) return text.split('\n');
  return [...firstChars(text, charsMax).split('\n'), moreChars(text.length - charsMax)];
}

/** The same on one line, cut with a notice. */
export function inertInline(value: unknown, charsMax: number = LINE_CHARS_MAX): string {
  return cutWithNotice(exactJson(value), charsMax, 0);
}

/** JSON whose text shows every character that it holds; the same value when parsed. */
export function exactJson(value: unknown, indent?: number): string {
  return (JSON.stringify(value, null, indent) ?? 'null').replace(UNSEEN_IN_JSON, escaped);
}

function cleanLine(line: string): string {
  return line
    .replace(SEQUENCES, '')
    .replace(/\t/g, '  ')
    .replace(UNSEEN, '')
    .replace(LONE_SURROGATE, '\uFFFD')
    .replace(STACKED_MARKS, '$1');
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    const unit = character.charCodeAt(index).toString(16).padStart(4, '0');
    return `\\u${unit}`;
  }).join('');
}

function bounded(text: string): { readonly kept: string; readonly cut: number } {
  const kept = text.slice(0, INPUT_CHARS_MAX);
  return { kept, cut: text.length - kept.length };
}

function cutWithNotice(text: string, charsMax: number, alreadyCut: number): string {
  const shown = firstChars(text, charsMax);
  const hidden = text.length + alreadyCut - shown.length;
  return hidden > 0 ? `${shown}${moreChars(hidden)}` : shown;
}

/** Never ends in half of a surrogate pair. */
function firstChars(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const splits = /[\uD800-\uDBFF]/.test(text.charAt(charsMax - 1));
  return text.slice(0, splits ? charsMax - 1 : charsMax);
}

function moreChars(count: number): string {
  return `… (+${count.toLocaleString('en-US')} characters)`;
}
