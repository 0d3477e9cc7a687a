/** The person at the terminal, or the lack of one. */
import { createInterface } from 'node:readline';
import { COLOURED, PLAIN, type Paint } from '../../cli/render/index.js';

export interface Terminal {
  /** Somebody can be asked. */
  readonly interactive: boolean;
  /** Somebody has said that the demo approves by itself (`--yes`). */
  readonly yes: boolean;
  /** What is printed can be replaced. */
  readonly live: boolean;
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
    yes: options.yes,
    live: output.isTTY === true,
    paint: options.colours && output.isTTY === true ? COLOURED : PLAIN,
    say: (text = '') => write(`${text}\n`),
    progress(line) {
      write(output.isTTY ? line : `${line}\n`);
      unfinished = output.isTTY === true;
    },
    confirm: (question, signal) => confirm({ input, output }, question, signal),
  };
}

async function confirm(
  streams: TerminalStreams,
  question: string,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const lines = createInterface({ ...streams, prompt: `${question} [y/n] ` });
  // On a terminal, readline takes Ctrl-C for itself.
  lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const withdraw = (): void => lines.close();
  signal.addEventListener('abort', withdraw, { once: true });
  try {
    lines.prompt();
    // Ends with the input, or when the question is withdrawn.
    for await (const line of lines) {
      const answer = line.trim().toLowerCase();
      if (answer === 'y' || answer === 'yes') return true;
      if (answer === 'n' || answer === 'no') return false;
      lines.prompt();
    }
    return undefined;
  } finally {
    signal.removeEventListener('abort', withdraw);
    lines.close();
  }
}
