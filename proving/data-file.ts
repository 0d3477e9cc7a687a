/** Reads a JSON file from outside with a limit on its size and an error that names it. */
import { readFileSync, statSync } from 'node:fs';
import type { z } from 'zod';
import { HoldfastError } from '../core/errors.js';

/** Recordings of some hundred runs take tens of megabytes; a string cannot hold more than this. */
const FILE_BYTES_MAX = 400 * 1024 * 1024;

/** The parsed JSON of a file. */
export function readDataFile(path: string): unknown {
  const info = statSync(path, { throwIfNoEntry: false });
  if (info === undefined || !info.isFile()) throw badFile(path, 'is not a file');
  if (info.size > FILE_BYTES_MAX) throw badFile(path, `is larger than ${FILE_BYTES_MAX} bytes`);
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as unknown;
  } catch (cause) {
    throw badFile(path, 'is not JSON', cause);
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
