/**
 * A question that is answered with yes or no, where the person types.
 * Invariant: only a clear yes is one; the end of the input (Ctrl-D) is a no.
 */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { Cli } from '../command.js';
import { EXIT } from '../exit-code.js';
import type { Streams } from './output.js';

export type Word = 'yes' | 'no' | 'interrupted';

/** 'interrupted': Ctrl-C. */
export async function askYesNo({ input, streams }: Cli, question: string): Promise<Word> {
  // A terminal is more than its texts; lines that come from elsewhere have none.
  const output = input === undefined ? process.stderr : told(streams);
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

function told({ err }: Streams): Writable {
  return new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => (err(text), done()),
  });
}

/** Of a command whose question had no yes: its work is not done. */
export function exitCodeOfWord(word: Exclude<Word, 'yes'>): number {
  return word === 'interrupted' ? EXIT.interrupted : EXIT.error;
}
