/** Marks around texts of a question: random for each request, so that no text can end its own or make up another. */
import { randomBytes } from 'node:crypto';

export interface Fence {
  mark(name: string): string;
  around(name: string, lines: readonly string[]): string;
}

const MARK_BYTES = 9;

export function newFence(random: string = randomBytes(MARK_BYTES).toString('hex')): Fence {
  const mark = (name: string): string => `⟦${random} ${name}⟧`;
  return {
    mark,
    around: (name, lines) => [mark(name), ...lines, mark(`/${name}`)].join('\n'),
  };
}
