/** Ctrl-C and SIGTERM as an AbortSignal: the command ends in order. A second one ends the process at once. */
import { EXIT } from './exit-code.js';

export interface Interrupt {
  readonly signal: AbortSignal;
  /** Gives the signals back. */
  release(): void;
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];

export function onInterrupt(): Interrupt {
  const controller = new AbortController();
  const heard = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
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
