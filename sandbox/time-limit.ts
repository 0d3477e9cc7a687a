/**
 * Runs code that may not come to an end by itself, such as a regular expression that somebody else wrote.
 * Invariant: it blocks this process no longer than it is given. Work that is cut off stops anywhere, without its
 * `finally`: what it was working on must not be used again.
 */
import { createContext, Script, type Context } from 'node:vm';

const WORK = new Script('work()');
/** One for all: a context is dear, and holds nothing but the work of the moment. */
let room: Context | undefined;

export type Timed<T> = { readonly inTime: true; readonly value: T } | { readonly inTime: false };

export function withinTime<T>(limitMs: number, work: () => T): Timed<T> {
  room ??= createContext({});
  room['work'] = work;
  try {
    // The limit ends everything that runs below this frame, in whatever context it was written.
    const value = WORK.runInContext(room, { timeout: limitMs }) as T;
    return { inTime: true, value };
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return { inTime: false };
  } finally {
    delete room['work'];
  }
}
