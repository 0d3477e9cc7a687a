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

/** How often work is begun that was given the processor for less than this part of its time. */
const TRIES_MAX = 3;
const STARVED = 0.8;

/**
 * The same for work that may be begun anew: a machine that is busy elsewhere says nothing of the work. `cutOff` is told of each
 * try that did not come to its end.
 */
export function withinOwnTime<T>(
  limitMs: number,
  work: () => T,
  cutOff: () => void = () => undefined,
): Timed<T> {
  for (let tries = 1; ; tries += 1) {
    const began = process.cpuUsage();
    const done = withinTime(limitMs, work);
    if (done.inTime) return done;
    cutOff();
    const { user, system } = process.cpuUsage(began);
    const isStarved = user + system < STARVED * limitMs * 1_000;
    if (!isStarved || tries === TRIES_MAX) return done;
  }
}
