/** Ctrl-C and SIGTERM as an AbortSignal: the command ends in order. A second one ends the process at once. */
import { EXIT } from '../exit-code.js';

export interface Interrupt {
  readonly signal: AbortSignal;
  /** Gives the signals back. */
  release(): void;
}

/** One Ctrl-C may arrive twice: from the terminal, and forwarded by npx or npm. People are slower. */
const SAME_SIGNAL_MS = 300;

/** As it is before any code of a project is loaded, which may not end the process meanwhile. */
const { exit } = process;

/** Said of a worker that drains. */
export const SECOND_ENDS =
  'A second Ctrl-C ends at once: reads are then repeated, and of other calls their probe or a person is asked.';

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];

export function onInterrupt(): Interrupt {
  const controller = new AbortController();
  let heardAt: number | undefined;
  const heard = (): void => {
    const now = performance.now();
    heardAt ??= now;
    if (isAnother(now - heardAt)) exit(EXIT.interrupted);
    controller.abort();
  };
  for (const signal of SIGNALS) process.on(signal, heard);
  return {
    signal: controller.signal,
    release() {
      for (const signal of SIGNALS) process.off(signal, heard);
    },
  };
}

/** Whether somebody has pressed again, so long after the first signal. */
export function isAnother(sinceFirstMs: number): boolean {
  return sinceFirstMs > SAME_SIGNAL_MS;
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
