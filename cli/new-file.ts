/** A file that a command writes for people to keep: never over another one, and its folder is made. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { HoldfastError } from '../core/state/errors.js';
import { usage } from './usage.js';

interface NewFile {
  readonly file: string;
  /** What it is, for errors: `bundle`. */
  readonly what: string;
}

/** Errors: Usage: the file exists, or cannot be written. */
export async function writeNewFile(
  content: string | Uint8Array,
  { file, what }: NewFile,
): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content, { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    const { code, syscall } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST' && syscall === 'open') {
      throw usage(`The file ${file} exists, and is kept.`, 'Choose another name with -o.');
    }
    throw new HoldfastError('Usage', `The ${what} cannot be written to ${file}.`, {
      hint: cause instanceof Error ? cause.message : 'Name another file with -o.',
      cause,
    });
  }
}
