/** What a run waits for that is neither a person nor its own work: a worker, the store, its conversation. */
import { ApiProblem, get, pathOf } from './api.js';
import { now } from './connection.js';
import { announce, el, fill } from './dom.js';
import { dateTime, relative } from './format.js';
import { inertLine } from './inert.js';
import { poll } from './polling.js';

/** @typedef {import('./api-types.js').Wait} Wait */

const LOOK_MS = 6_000;
const SHOWN_MAX = 5;

/**
 * It asks by itself, because it is told also while the store, and with it the rest of the run, is away.
 * @param {string} runId
 * @param {AbortSignal} signal
 */
export function waitsPanel(runId, signal) {
  const element = el('div', { class: 'notices waits' });
  const ending = new AbortController();
  let said = '';
  const look = async () => {
    const { waits } = await waitsNow(runId, signal).catch((error) => {
      // The server has forgotten the run: asking again would be noted as the attempt of a stranger.
      if (error instanceof ApiProblem && error.status === 404) ending.abort();
      throw error;
    });
    if (signal.aborted || ending.signal.aborted) return;
    fill(element, ...waits.slice(0, SHOWN_MAX).map(waitLine), moreLine(waits.length));
    const first = waits[0]?.for ?? '';
    if (first !== said && first !== '') announce(`The run waits for ${first}.`);
    said = first;
  };
  poll(look, { everyMs: LOOK_MS, signal: AbortSignal.any([signal, ending.signal]) });
  return {
    element,
    /** The run has ended. */
    end() {
      ending.abort();
      fill(element);
    },
  };
}

/**
 * @param {string} runId
 * @param {AbortSignal} signal
 * @returns {Promise<{ waits: readonly Wait[] }>}
 */
function waitsNow(runId, signal) {
  return get(pathOf('runs', runId, 'waits'), signal);
}

/** @param {Wait} wait */
function waitLine({ for: what, since, activity, attempts, message }) {
  return el(
    'p',
    { class: 'notice waiting' },
    'It waits for ',
    el('b', {}, inertLine(what, 160)),
    ` since ${dateTime(since)} (${relative(since, now())})`,
    activity !== undefined && [', for ', inertLine(activity, 128)],
    attempts > 0 && `, tried ${attempts} ${attempts === 1 ? 'time' : 'times'}`,
    message !== undefined && [': ', inertLine(message, 300)],
  );
}

/** @param {number} count */
function moreLine(count) {
  return count > SHOWN_MAX && el('p', { class: 'help' }, `and ${count - SHOWN_MAX} more waits`);
}
