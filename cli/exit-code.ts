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
  /** A shell's own number for a closed pipe. */
  unread: 141,
} as const;

/** As `--help` and docs/reference/errors.md say it. */
export const EXIT_MEANINGS: readonly (readonly [code: number, meaning: string])[] = [
  [EXIT.completed, 'the run completed, or the command did its work'],
  [EXIT.error, 'an error: it says what is wrong and what to do'],
  [EXIT.usage, 'the command line is wrong'],
  [EXIT.stopped, 'the run stopped without completing'],
  [EXIT.waiting, 'the run waits for a person'],
  [EXIT.interrupted, 'Ctrl-C; runs go on'],
  [EXIT.unread, 'the reader of a pipe, as `head`, left long before the end; runs go on'],
];

export const EXIT_CODES_HELP = `
Exit codes:
${EXIT_MEANINGS.map(([code, meaning]) => `  ${String(code).padEnd(4)} ${meaning}`).join('\n')}

Every error with its cause and remedy: docs/reference/errors.md in the package holdfast.`;

export function exitCodeOf(error: unknown): number {
  return error instanceof HoldfastError && error.code === 'Usage' ? EXIT.usage : EXIT.error;
}

export function exitCodeOfResult(result: RunResult): number {
  return result.completed ? EXIT.completed : EXIT.stopped;
}
