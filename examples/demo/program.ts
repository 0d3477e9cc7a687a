/** An example as a program: what ends it, its exit code, and everything closed whatever happens in between. */
import { createClosers, type Closers } from './closers.js';
import { createTerminal, type Terminal } from './terminal.js';

export interface Demo {
  readonly terminal: Terminal;
  readonly closers: Closers;
  /** Aborted with 'interrupted' by Ctrl-C, else with what failed. */
  readonly stop: AbortController;
}

const INTERRUPTED_EXIT_CODE = 130;

/** Runs `play` at this terminal; `yes`: it asks no person. Gives the exit code. */
export async function runDemo(
  { yes }: { readonly yes: boolean },
  play: (demo: Demo) => Promise<number>,
): Promise<number> {
  const terminal = createTerminal(
    { input: process.stdin, output: process.stdout },
    { yes, colours: process.env['NO_COLOR'] === undefined },
  );
  const closers = createClosers((error) => terminal.say(textOf(error)));
  const stop = stopOnSignals(terminal);
  try {
    return await play({ terminal, closers, stop });
  } finally {
    await closers.closeAll();
  }
}

/** Ends the process with the code, or with what went wrong. */
export function exitWith(played: Promise<number>): void {
  played.then(
    // Nothing may be left that keeps the process alive; if something is, that must not hold the terminal.
    (code) => process.exit(code),
    (error: unknown) => {
      process.stderr.write(`${textOf(error)}\n`);
      process.exit(1);
    },
  );
}

export function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    const done = (): void => resolve(undefined);
    if (signal.aborted) done();
    else signal.addEventListener('abort', done, { once: true });
  });
}

/** The exit code of a demo that was stopped; throws what stopped it when that was a failure. */
export function endOf(signal: AbortSignal): number {
  if (signal.reason === 'interrupted') return INTERRUPTED_EXIT_CODE;
  throw signal.reason;
}

export function textOf(error: unknown): string {
  const { message, hint } = error as { readonly message?: string; readonly hint?: string };
  const text = message ?? String(error);
  return hint === undefined ? text : `${text}\n${hint}`;
}

function stopOnSignals(terminal: Terminal): AbortController {
  const stop = new AbortController();
  const onSignal = (): void => {
    // A second Ctrl-C does not wait; the children end with this process.
    if (stop.signal.aborted) process.exit(INTERRUPTED_EXIT_CODE);
    terminal.say();
    terminal.say('Stopping …');
    stop.abort('interrupted');
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  return stop;
}
