/** A text from outside as one short line that a terminal or a page can show: nothing in it is a control character. */
import { withoutUnseen } from '../../pure/unseen.js';

/** At most `charsMax` characters, the mark of a cut among them. */
export function plainLine(text: string, charsMax: number): string {
  // What is left out is no more than what is kept: of a long text nothing else is looked at.
  const line = withoutUnseen(text.slice(0, 2 * charsMax), ' ')
    .replace(/\s+/g, ' ')
    .trim();
  if (line.length <= charsMax) return line;
  const kept = line.slice(0, charsMax - 1);
  return `${/[\uD800-\uDBFF]$/.test(kept) ? kept.slice(0, -1) : kept}…`;
}
