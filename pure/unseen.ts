/** Characters of a text that nobody sees, or that turn, hide or break the text around them: one list for everybody who shows or refuses them. */

/**
 * For the class of a regular expression with the flag `u`: controls, formats (directions of writing, zero width, tags),
 * separators of lines, and letters that look like nothing.
 */
export const UNSEEN = String.raw`\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115F\u1160\u3164\uFFA0\u2800`;

/** The same with halves of pairs and characters that each font draws otherwise. */
export const UNSEEN_OR_UNKNOWN = String.raw`${UNSEEN}\p{Cs}\p{Co}`;

const ANY = new RegExp(`[${UNSEEN_OR_UNKNOWN}]`, 'gu');

export function hasUnseen(text: string): boolean {
  return text.search(ANY) >= 0;
}

/** With `mark` in place of each of them. */
export function withoutUnseen(text: string, mark: ' ' | '?'): string {
  return text.replace(ANY, mark);
}
