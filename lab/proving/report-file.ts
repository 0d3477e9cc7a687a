/**
 * The file that a long work leaves its figures in.
 * Invariant: a place that cannot be written is told before the work begins, as far as that can be known.
 */
import { accessSync, constants, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { HoldfastError } from '../../core/state/errors.js';

/** Errors: `Usage` when there is no place for such a file. */
export function checkReportFile(file: string): void {
  const folder = dirname(resolve(file));
  const above = statSync(folder, { throwIfNoEntry: false });
  const there = statSync(file, { throwIfNoEntry: false });
  if (above?.isDirectory() !== true) {
    throw unusable(file, `there is no folder ${folder}`, 'Make the folder first, or name another');
  }
  if (there?.isDirectory() === true) throw unusable(file, 'that is a folder', 'Name a');
  try {
    accessSync(there === undefined ? folder : file, constants.W_OK);
  } catch {
    throw unusable(file, 'this user may not write there', 'Name another');
  }
}

function unusable(file: string, why: string, action: string): HoldfastError {
  return new HoldfastError('Usage', `The figures cannot be written to ${file}: ${why}.`, {
    hint: `${action} file with --json.`,
  });
}

/** Errors: `InvalidConfig` when the place has gone meanwhile, or is full. */
export function writeReportFile(file: string, report: unknown): void {
  try {
    writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HoldfastError(
      'InvalidConfig',
      `The figures could not be written to ${file}: ${reason}.`,
      { hint: 'What is printed above is all there is of them.', cause },
    );
  }
}
