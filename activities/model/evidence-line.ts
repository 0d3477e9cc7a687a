/**
 * The line by which a cycle of a goal is told under which id a result is evidence.
 * Invariants: the runtime alone writes such a line, and it is the last one; a result whose own text has one is shown
 * with another bracket there, no longer than before; what is stored stays as it was.
 */

const PRETENDED = /[[\uFF3B](?=[\s\p{Cf}]*evidence)/giu;

/** The text of a result as the model of a cycle sees it. Without an id the result is no evidence. */
export function inCycle(text: string, id: string | undefined): string {
  const own = text.replace(PRETENDED, '(');
  return id === undefined ? own : `${own}\n[evidence ${id}]`;
}
