/** The person at the terminal, or the lack of one. */
import { createInterface } from 'node:readline/promises';
import { COLOURED, PLAIN, type Paint } from '../../../cli/render/index.js';

export interface Terminal {
  /** Somebody can be asked. */
  readonly interactive: boolean;
  readonly paint: Paint;
  say(text?: string): void;
  /** A line about work that takes long; on a terminal the next one takes its place. */
  progress(line: string): void;
  /** Asks y/n until one of them is answered; undefined when the question was withdrawn or the input ended. */
  confirm(question: string, signal: AbortSignal): Promise<boolean | undefined>;
}

export interface TerminalStreams {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}

const ATTEMPTS_MAX = 100;
const CLEAR_LINE = '\r\u001b[2K';

export function createTerminal(
  { input, output }: TerminalStreams,
  options: { readonly yes: boolean; readonly colours: boolean },
): Terminal {
  let unfinished = false;
  const write = (text: string): void => {
    output.write(unfinished ? `${CLEAR_LINE}${text}` : text);
    unfinished = false;
  };
  return {
    interactive: !options.yes && input.isTTY === true && output.isTTY === true,
    paint: options.colours && output.isTTY === true ? COLOURED : PLAIN,
    say: (text = '') => write(`${text}\n`),
    progress(line) {
      write(output.isTTY ? line : `${line}\n`);
      unfinished = output.isTTY === true;
    },
    async confirm(question, signal) {
      const lines = createInterface({ input, output });
      // On a terminal, readline takes Ctrl-C for itself.
      lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
      const closed = new AbortController();
      lines.once('close', () => closed.abort());
      const ended = AbortSignal.any([signal, closed.signal]);
      try {
        return await askYesOrNo((text) => lines.question(text, { signal: ended }), question);
      } catch (error) {
        if (ended.aborted) return undefined;
        throw error;
      } finally {
        lines.close();
      }
    },
  };
}

async function askYesOrNo(
  ask: (text: string) => Promise<string>,
  question: string,
): Promise<boolean | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const answer = (await ask(`${question} [y/n] `)).trim().toLowerCase();
    if (answer === 'y' || answer === 'yes') return true;
    if (answer === 'n' || answer === 'no') return false;
  }
  return undefined;
}
