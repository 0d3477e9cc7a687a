/**
 * Whether the desk answers. It is said quietly, after a moment, and taken back when it does again; what is on
 * the page stays.
 */
import { announce } from './announced.js';
import { watched } from './watched.js';

const QUIET_MS = 1_200;

/** What people are told while the desk is away. */
export const absence = watched<string | undefined>(undefined);

let timer: ReturnType<typeof setTimeout> | undefined;
/** How far the desk's clock is ahead of this machine's, in ms. */
let ahead = 0;

/** The desk's time, in ms since epoch. */
export function now(): number {
  return Date.now() + ahead;
}

export function reached(response: Response): void {
  const said = Date.parse(response.headers.get('date') ?? '');
  // The header knows seconds; less than two of them are no difference.
  if (!Number.isNaN(said)) ahead = Math.abs(said - Date.now()) < 2_000 ? 0 : said - Date.now();
  clearTimeout(timer);
  timer = undefined;
  if (absence.get() === undefined) return;
  absence.set(undefined);
  announce('Connected again.');
}

export function lost(): void {
  if (absence.get() !== undefined) return;
  timer ??= setTimeout(() => {
    absence.set('The desk does not answer. The page may be out of date; trying again …');
  }, QUIET_MS);
}
