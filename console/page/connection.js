/**
 * Whether the desk answers. It is said quietly, after a moment, and taken back when it does again; what is on
 * the page stays.
 */
import { announce, byId } from './dom.js';

const QUIET_MS = 1_200;

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let isAway = false;
/** How far the desk's clock is ahead of this machine's, in ms. */
let ahead = 0;

/** The desk's time. */
export function now() {
  return Date.now() + ahead;
}

/** @param {Response} response */
export function reached(response) {
  const said = Date.parse(response.headers.get('date') ?? '');
  // The header knows seconds; less than two of them are no difference.
  if (!Number.isNaN(said)) ahead = Math.abs(said - Date.now()) < 2_000 ? 0 : said - Date.now();
  clearTimeout(timer);
  timer = undefined;
  if (!isAway) return;
  isAway = false;
  byId('connection').hidden = true;
  announce('Connected again.');
}

/** @param {string} [why] */
export function lost(why = 'The desk does not answer.') {
  if (isAway) return;
  timer ??= setTimeout(() => {
    isAway = true;
    const note = byId('connection');
    note.textContent = `${why} What you see may be old; trying again …`;
    note.hidden = false;
  }, QUIET_MS);
}
