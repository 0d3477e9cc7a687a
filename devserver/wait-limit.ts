/** Nobody waits for ever for another process that prepares or starts a server. */
import { HoldfastError } from '../core/state/errors.js';

export function waitedTooLong(path: string, waitMs: number): HoldfastError {
  return new HoldfastError(
    'ServerUnavailable',
    `Waited ${Math.round(waitMs / 1000)} s for another process, which holds the lock ${path}.`,
    {
      hint: `Find the process that has ${path} open, wait for its end or end the process, then try again.`,
      details: { path },
    },
  );
}
