/** What is frozen now, in a line below the head of every view: people must not wonder why nothing happens. */
import { get } from './api.js';
import { el, fill } from './dom.js';
import { dateTime } from './format.js';
import { inertLine } from './inert.js';
import { poll } from './polling.js';

/** @typedef {import('./api-types.js').Freeze} Freeze */

const LOOK_MS = 15_000;
const SHOWN_MAX = 5;

/**
 * @param {HTMLElement} place
 * @param {AbortSignal} signal
 */
export function watchFreezes(place, signal) {
  let drawn = '';
  poll(
    async () => {
      /** @type {{ items: Freeze[] }} */
      const { items } = await get('/v1/freezes', signal);
      const state = items.map(({ id }) => id).join();
      if (state === drawn) return;
      drawn = state;
      place.hidden = items.length === 0;
      const hidden = items.length - SHOWN_MAX;
      fill(
        place,
        ...items.slice(0, SHOWN_MAX).map(freezeLine),
        hidden > 0 && el('li', {}, `and ${hidden} more`),
      );
    },
    { everyMs: LOOK_MS, signal },
  );
}

/** @param {Freeze} freeze */
function freezeLine({ scope, by, reason, until }) {
  return el(
    'li',
    {},
    el('b', {}, 'Frozen: '),
    ...whatOf(scope),
    ' by ',
    inertLine(by, 100),
    until !== undefined && ` until ${dateTime(until)}`,
    ': ',
    inertLine(reason, 300),
  );
}

/**
 * @param {Freeze['scope']} scope
 * @returns {(string | HTMLElement)[]}
 */
function whatOf({ kind, pattern, agent }) {
  if (kind === 'tool') return ['the tool ', inertLine(String(pattern), 130)];
  if (kind === 'agent') return ['the agent ', inertLine(String(agent), 130)];
  return ['everything that changes something'];
}
