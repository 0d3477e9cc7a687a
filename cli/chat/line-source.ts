/**
 * What a person types, line by line.
 * Invariants: a question takes only a line that was typed after it was asked, never one that was meant as a
 * message; lines typed ahead wait for the conversation; nothing is lost when a waiter gives up.
 */
import { createInterface } from 'node:readline';

export interface LineSource {
  /** The next line of the conversation; undefined: there are no more. */
  next(prompt: string, signal?: AbortSignal): Promise<string | undefined>;
  /** The next line that is typed from now on; undefined: there are no more, or `signal` aborted. */
  ask(prompt: string, signal: AbortSignal): Promise<string | undefined>;
  /** Gives a line back: it is the next one. */
  unread(line: string): void;
  /** No more lines will come; some may wait. */
  readonly over: AbortSignal;
  close(): void;
}

export interface Typing {
  readonly input: NodeJS.ReadableStream;
  /** A terminal, where lines are edited; its prompt and its echo go there. */
  readonly terminal?: NodeJS.WritableStream;
  /** Prompts, where there is no terminal but a person. */
  readonly write?: (text: string) => void;
  readonly onInterrupt: () => void;
}

/** Lines that wait; more than a person types ahead, less than a file fills memory with. */
const WAITING_MAX = 1_000;
/** More than anything takes: a longer line is refused as too long, and never said in part. */
const LINE_CHARS_MAX = 250_000;

interface Waiter {
  readonly take: (line: string | undefined) => void;
}

export function lineSource({ input, terminal, write, onInterrupt }: Typing): LineSource {
  const reader = createInterface({
    input,
    ...(terminal !== undefined && { output: terminal, terminal: true }),
  });
  const waiting: string[] = [];
  let asking: Waiter | undefined;
  let talking: Waiter | undefined;
  const over = new AbortController();

  reader.on('SIGINT', onInterrupt);
  reader.on('line', (text) => {
    const line = text.slice(0, LINE_CHARS_MAX);
    if (asking !== undefined) asking.take(line);
    else if (talking !== undefined) talking.take(line);
    else waiting.push(line);
    if (waiting.length >= WAITING_MAX) reader.pause();
  });
  reader.on('close', () => {
    over.abort();
    asking?.take(undefined);
    talking?.take(undefined);
  });

  function show(prompt: string): void {
    if (terminal === undefined) return write?.(prompt);
    reader.setPrompt(prompt);
    reader.prompt(true);
  }

  function wait(
    set: (waiter: Waiter | undefined) => void,
    prompt: string,
    signal?: AbortSignal,
  ): Promise<string | undefined> {
    return new Promise((resolve) => {
      if (over.signal.aborted || signal?.aborted) return resolve(undefined);
      const leave = (): void => waiter.take(undefined);
      const waiter: Waiter = {
        take(line) {
          set(undefined);
          signal?.removeEventListener('abort', leave);
          resolve(line);
        },
      };
      set(waiter);
      signal?.addEventListener('abort', leave, { once: true });
      show(prompt);
    });
  }

  return {
    async next(prompt, signal) {
      const line = signal?.aborted ? undefined : waiting.shift();
      reader.resume();
      return line ?? wait((waiter) => (talking = waiter), prompt, signal);
    },
    ask: (prompt, signal) => wait((waiter) => (asking = waiter), prompt, signal),
    unread: (line) => void waiting.unshift(line),
    over: over.signal,
    close: () => reader.close(),
  };
}
