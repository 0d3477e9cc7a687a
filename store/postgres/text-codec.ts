/**
 * Texts as PostgreSQL can hold them. It refuses U+0000, which a model or a tool may well say.
 * Invariants: decoding what was encoded gives the same text (unpaired surrogates become U+FFFD, as in
 * SQLite); different texts have different codes, so that keys stay keys; texts without U+0000 and
 * U+FDD0 are their own code.
 */

/** A code point that Unicode reserves for a program's own use. It is never text. */
const ESCAPE = '\uFDD0';
const NUL = '\0';
const CODED_NUL = `${ESCAPE}0`;
const CODED_ESCAPE = `${ESCAPE}1`;

export function encodeText(text: string): string {
  if (!text.includes(NUL) && !text.includes(ESCAPE)) return text;
  return text.replaceAll(ESCAPE, CODED_ESCAPE).replaceAll(NUL, CODED_NUL);
}

export function decodeText(code: string): string {
  if (!code.includes(ESCAPE)) return code;
  return code.replaceAll(CODED_NUL, NUL).replaceAll(CODED_ESCAPE, ESCAPE);
}
