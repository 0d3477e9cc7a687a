/** What the command's exit code says; documented in `holdfast --help`. */
import { HoldfastError } from '../core/state/errors.js';
import type { RunResult } from '../core/state/result.js';

export const EXIT = {
  completed: 0,
  error: 1,
  usage: 2,
  stopped: 3,
  waiting: 4,
  /** A shell's own number for Ctrl-C. */
  interrupted: 130,
} as const;

export const EXIT_CODES_HELP = `
Exit codes:
  0    the run completed, or the command did its work
  1    an error: it says what is wrong and what to do
  2    the command line is wrong
  3    the run stopped without completing
  4    the run waits for a person
  130  Ctrl-C; runs go on`;

export function exitCodeOf(error: unknown): number {
  return error instanceof HoldfastError && error.code === 'Usage' ? EXIT.usage : EXIT.error;
}

export function exitCodeOfResult(result: RunResult): number {
  return result.completed ? EXIT.completed : EXIT.stopped;
}
