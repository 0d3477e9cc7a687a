/** Lines that fit into a terminal, broken between words. Colours take no room, and end where a line does. */

// eslint-disable-next-line no-control-regex
const COLOURS = /\u001B\[(\d+)m/g;
// eslint-disable-next-line no-control-regex
const CHARACTERS = /\u001B\[\d+m|./gsu;
/** Two columns each; what is beyond the first plane has two units already. */
const WIDE =
  /[\u1100-\u115F\u2E80-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|(?![\u{10000}-\u{10FFFF}])\p{Emoji_Presentation}/gu;
/** What ends colours: bold and dim, then the colour. */
const PLAINLY = '\u001B[22m\u001B[39m';

/** The most columns that a terminal takes for a text. */
export function columnsOf(text: string): number {
  const seen = text.replace(COLOURS, '');
  return seen.length + (seen.match(WIDE)?.length ?? 0);
}

export interface Folding {
  /** Before each line but the first. */
  readonly hanging?: string;
  /** Words that stay whole, on lines of their own, however long they are: somebody may copy them. Default: all. */
  readonly keeps?: (word: string) => boolean;
}

export function folded(line: string, columns: number, folding: Folding = {}): readonly string[] {
  const room = Math.max(columns, COLUMNS_MIN);
  if (columnsOf(line) <= room) return [line];
  const { hanging = '', keeps = () => true } = folding;
  const lines: string[] = [];
  let last = '';
  for (const { word, isKept } of wordsOf(line, room - hanging.length, keeps)) {
    if (last.replace(COLOURS, '').trim() === '' || columnsOf(last + word) <= room) last += word;
    else {
      lines.push(last);
      const rest = word.replace(/^\s/u, '');
      last = isKept && columnsOf(hanging + rest) > room ? rest : hanging + rest;
    }
  }
  return inOwnColours([...lines, last]);
}

const COLUMNS_MIN = 10;

interface Word {
  readonly word: string;
  readonly isKept: boolean;
}

function wordsOf(line: string, room: number, keeps: (word: string) => boolean): readonly Word[] {
  return line.split(/(?=\s)/u).flatMap((word) => {
    const isKept = keeps(word.replace(COLOURS, '').trim());
    const isWhole = isKept || columnsOf(word) <= room;
    return (isWhole ? [word] : piecesOf(word, room)).map((piece) => ({ word: piece, isKept }));
  });
}

function piecesOf(word: string, room: number): readonly string[] {
  const pieces: string[] = [];
  let last = '';
  for (const [character] of word.matchAll(CHARACTERS)) {
    if (last !== '' && columnsOf(last + character) > room) {
      pieces.push(last);
      last = '';
    }
    last += character;
  }
  return [...pieces, last];
}

/** What stands before a line is in no colour of the line above. */
function inOwnColours(lines: readonly string[]): readonly string[] {
  let open = '';
  return lines.map((line) => {
    const begun = open + line;
    open = '';
    for (const [code, number] of begun.matchAll(COLOURS)) {
      if (number === '22' || number === '39' || number === '0') open = '';
      else open += code;
    }
    return open === '' ? begun : begun + PLAINLY;
  });
}
