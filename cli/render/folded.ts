/** Lines that fit into a terminal, broken between words. Colours take no room. */

// eslint-disable-next-line no-control-regex
const COLOURS = /\u001B\[\d+m/g;

export function charsSeen(text: string): number {
  return text.replace(COLOURS, '').length;
}

/**
 * `hanging` stands before each line but the first. A word that is longer than a line stays whole, on a line of its own: it may
 * be an id that somebody copies.
 */
export function folded(line: string, room: number, hanging: string): readonly string[] {
  if (charsSeen(line) <= room) return [line];
  const lines: string[] = [];
  let last = '';
  for (const word of line.split(/(?=\s)/u)) {
    if (last.trim() === '' || charsSeen(last + word) <= room) last += word;
    else {
      lines.push(last);
      const next = hanging + word.slice(1);
      last = charsSeen(next) <= room ? next : word.slice(1);
    }
  }
  return [...lines, last];
}
