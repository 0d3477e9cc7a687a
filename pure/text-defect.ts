/**
 * Texts that cannot be kept as they are: NUL ends a text in many programs, and half of a surrogate pair has no form in
 * UTF-8. What people write is refused then: nobody is shown a part of it, or another text.
 */

import { isWellFormed } from '../core/json/shape.js';

export const TEXT_HINT = 'Write it without this character.';

/** Of a text, or of the texts of a JSON value; undefined: all of them can be kept. */
export function textDefect(value: unknown): string | undefined {
  if (typeof value === 'string') {
    if (value.includes('\0')) return 'has the character NUL';
    return isWellFormed(value) ? undefined : 'has half of a surrogate pair';
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, part] of Object.entries(value)) {
    const defect = textDefect(name) ?? textDefect(part);
    if (defect !== undefined) return defect;
  }
  return undefined;
}
