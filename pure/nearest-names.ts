/** Names that somebody may have meant. */

const SHOWN_MAX = 3;
/** Longer ones are nobody's slip of the finger. */
const CHARS_MAX = 128;

/** The nearest first; none that differs in more than a third of its letters, or two of a short name. */
export function nearestNames(wanted: string, known: readonly string[]): readonly string[] {
  if (wanted.length > CHARS_MAX) return [];
  const most = Math.max(2, Math.floor(wanted.length / 3));
  return known
    .filter((name) => name.length <= CHARS_MAX)
    .map((name) => ({ name, distance: editDistance(wanted.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= most && distance < name.length)
    .toSorted((one, other) => one.distance - other.distance || (one.name < other.name ? -1 : 1))
    .slice(0, SHOWN_MAX)
    .map(({ name }) => name);
}

/** Letters to add, to leave out or to change (Levenshtein). */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, changed));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}

/** `Did you mean refund? `, before what else a hint says; empty: nothing is near. */
export function didYouMean(wanted: unknown, known: readonly string[]): string {
  const nearest = typeof wanted === 'string' ? nearestNames(wanted, known) : [];
  return nearest.length === 0 ? '' : `Did you mean ${nearest.join(' or ')}? `;
}
