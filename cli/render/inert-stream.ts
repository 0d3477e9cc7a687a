/** Hostile text that arrives in pieces, made inert piece by piece: what is cut between two is no way around. */
import { inertText } from './inert.js';

export interface InertStream {
  push(piece: string): string;
  /** What was held back. */
  end(): string;
}

/** Half a character, or half a line break. */
const UNFINISHED = /[\uD800-\uDBFF\r]$/;
const LEADING_MARKS = /^\p{M}+/u;
const TRAILING_MARKS = /\p{M}+$/u;
/** Marks on one letter; as in a text that comes whole. */
const MARKS_MAX = 4;

export function inertStream(): InertStream {
  let held = '';
  /** Marks on the last letter. */
  let marks = 0;

  function show(text: string): string {
    const clean = inertText(text);
    const leading = LEADING_MARKS.exec(clean)?.[0] ?? '';
    const shown = `${leading.slice(0, Math.max(0, MARKS_MAX - marks))}${clean.slice(leading.length)}`;
    const trailing = TRAILING_MARKS.exec(shown)?.[0].length ?? 0;
    marks = trailing === shown.length ? marks + trailing : trailing;
    return shown;
  }

  return {
    push(piece) {
      const text = held + piece;
      held = UNFINISHED.exec(text)?.[0] ?? '';
      return show(text.slice(0, text.length - held.length));
    },
    end() {
      const text = held;
      held = '';
      return show(text);
    },
  };
}
