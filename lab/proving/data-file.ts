/** Reads a JSON file from outside with a limit on its size and an error that names it. */
import { readFileSync, statSync } from 'node:fs';
import type { z } from 'zod';
import { HoldfastError } from '../../core/state/errors.js';

/** Recordings of some hundred runs take tens of megabytes; a string cannot hold more than this. */
const FILE_BYTES_MAX = 400 * 1024 * 1024;

/** The parsed JSON of a file. */
export function readDataFile(path: string): unknown {
  const info = statSync(path, { throwIfNoEntry: false });
  if (info === undefined || !info.isFile()) throw badFile(path, 'is not a file');
  if (info.size > FILE_BYTES_MAX) throw badFile(path, `is larger than ${FILE_BYTES_MAX} bytes`);
  // Some editors and spreadsheets put a mark before the text.
  const text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    return withoutNaN(path, text, cause);
  }
}

/** Python writes the numbers that JSON lacks as bare words; a recording has them in its scores. */
function withoutNaN(path: string, text: string, cause: unknown): unknown {
  const words = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\bInfinity\b|\bNaN\b/g;
  try {
    const mended = text.replace(words, (word) => (word.startsWith('"') ? word : 'null'));
    return JSON.parse(mended) as unknown;
  } catch {
    throw badFile(path, 'is not JSON', cause);
  }
}

/** Does something with what a file holds; an error says which file it was, and what to do: its own hint, or `mend`. */
export function aboutFile<T>(path: string, read: () => T, mend?: string): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    const { code, message, hint = mend, cause } = error;
    throw new HoldfastError(code, message.includes(path) ? message : `${path}: ${message}`, {
      cause,
      ...(hint !== undefined && { hint }),
    });
  }
}

/** The value as the schema's type, or an error that names the first fault and where it is. */
export function checked<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const at = issue === undefined || issue.path.length === 0 ? 'the top' : issue.path.join('.');
  throw new HoldfastError(
    'InvalidTask',
    `Not ${what}: ${issue?.message ?? 'unreadable'} at ${at}.`,
  );
}

function badFile(path: string, what: string, cause?: unknown): HoldfastError {
  return new HoldfastError('InvalidTask', `${path} ${what}.`, { cause });
}
