/** Colours or none, how wide the terminal is, and how commands are called. Whoever renders says which; nothing here looks at the terminal. */
export interface Paint {
  /** Characters of a line; absent: no terminal, and lines are as long as they are. */
  readonly columns?: number;
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly cyan: (text: string) => string;
  /** A sentence of Holdfast's own, with its commands as the reader has to type them. */
  readonly own: (text: string) => string;
}

function code(open: number, close: number): (text: string) => string {
  return (text) => `\u001B[${open}m${text}\u001B[${close}m`;
}

function plain(text: string): string {
  return text;
}

export const PLAIN: Paint = {
  bold: plain,
  dim: plain,
  red: plain,
  green: plain,
  yellow: plain,
  cyan: plain,
  own: plain,
};

export const COLOURED: Paint = {
  bold: code(1, 22),
  dim: code(2, 22),
  red: code(31, 39),
  green: code(32, 39),
  yellow: code(33, 39),
  cyan: code(36, 39),
  own: plain,
};
