/**
 * What stands in place of a hidden text.
 * Invariants: the same text has the same marker all over a bundle, other texts have others; a marker is as
 * long as its text in characters and in bytes and keeps what JSON escapes in two characters, and escapes as escapes, so
 * that limits, cut texts and JSON within texts stay what they were; nobody can try texts out, because the salt is thrown away.
 */
import { createHash } from 'node:crypto';
import { escapedAs, escapesAndCharacters, unescaped } from './escapes.js';

const LABEL = '[redacted:';
const LABEL_DIGITS = 8;
/** JSON may write a slash as two characters, as PHP does; no other character but these can be written so. */
const KEPT: ReadonlySet<string> = new Set(['"', '\\', '/']);
/** A marker as people see it: with less room it is digits alone. */
const LABELLED_MIN = LABEL.length + LABEL_DIGITS + 1;

export function markerFor(text: string, salt: string, attempt: number): string {
  const bytes = createHash('sha512').update(`${salt}\n${attempt}\n${text}`).digest();
  const parts = escapesAndCharacters(text);
  const ascii = asciiMarker(parts.filter(isReplacedAscii).length, bytes.toString('hex'));
  let used = 0;
  return parts
    .map((part, index) => {
      if (isReplacedAscii(part)) return ascii.charAt(used++);
      const digit = bytes[index % bytes.length]!;
      if (part.length === 1 || !part.startsWith('\\')) return otherMarker(part, digit);
      const unit = unescaped(part);
      return escapedAs(isReplacedAscii(unit) ? '*' : otherMarker(unit, digit), part);
    })
    .join('');
}

function asciiMarker(length: number, digits: string): string {
  if (length < LABELLED_MIN) return digits.slice(0, length);
  return `${LABEL}${digits.slice(0, LABEL_DIGITS)}]`.padEnd(length, '*');
}

function isReplacedAscii(character: string): boolean {
  if (character.length > 1) return false;
  const code = character.codePointAt(0)!;
  return code >= 0x20 && code < 0x7f && !KEPT.has(character);
}

/** A character of the same size in UTF-8 and UTF-16. */
function otherMarker(character: string, digit: number): string {
  const code = character.codePointAt(0)!;
  if (code < 0x80 || (code >= 0xd800 && code <= 0xdfff)) return character;
  if (code < 0x800) return String.fromCodePoint(0xc0 + (digit % 0x17));
  if (code < 0x10000) return String.fromCodePoint(0x2460 + (digit % 0xa0));
  return String.fromCodePoint(0x1f030 + (digit % 0x40));
}
