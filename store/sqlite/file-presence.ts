/**
 * Whether the file that was opened still lies in its place. A file that was deleted or replaced goes on taking writes,
 * which are gone when its last reader ends: whoever acknowledged them has lost them.
 */
import { statSync } from 'node:fs';
import { HoldfastError } from '../../core/state/errors.js';

/** Throws `StoreUnavailable` when the file is gone, or another lies in its place. */
export type Presence = () => void;

export function presenceOf(file: string): Presence {
  const opened = identityOf(file);
  return () => {
    const found = identityOf(file);
    if (found === opened) return;
    throw new HoldfastError(
      'StoreUnavailable',
      found === undefined
        ? `The store's file ${file} is gone, or cannot be seen.`
        : `Another file lies where the store's file ${file} was.`,
      {
        hint: 'Put the file back in its place; when it was restored from a backup, start the processes that use it again.',
      },
    );
  };
}

/** undefined: it cannot be seen, for whatever reason. */
function identityOf(file: string): string | undefined {
  try {
    const { dev, ino } = statSync(file, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
