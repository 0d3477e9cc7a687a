/**
 * A question that is answered with yes or no, where the person types.
 * Invariant: only a clear yes is one; the end of the input (Ctrl-D) is a no.
 */
import { createInterface } from 'node:readline';
import type { Cli } from '../command.js';
import { EXIT } from '../exit-code.js';

export type Word = 'yes' | 'no' | 'interrupted';

/** 'interrupted': Ctrl-C. */
export async function askYesNo({ input }: Cli, question: string): Promise<Word> {
  const output = process.stderr;
  const lines = createInterface({ input: input ?? process.stdin, output });
  // Without an answer the line of the question is still open.
  const leave = (): void => void output.write('\n');
  try {
    return await new Promise<Word>((resolve) => {
      lines.once('SIGINT', () => resolve('interrupted'));
      lines.once('close', () => (leave(), resolve('no')));
      lines.question(`${question} [y/N] `, (word) => {
        lines.removeAllListeners('close');
        resolve(/^y(es)?$/i.test(word.trim()) ? 'yes' : 'no');
      });
    });
  } finally {
    lines.close();
  }
}

/** Of a command whose question had no yes: its work is not done. */
export function exitCodeOfWord(word: Exclude<Word, 'yes'>): number {
  return word === 'interrupted' ? EXIT.interrupted : EXIT.error;
}
