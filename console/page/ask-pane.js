/**
 * The question that is looked at, kept fresh: what is fixed is drawn once, what changes (time left, votes,
 * outcome) is drawn into its own places, so that nothing moves under somebody's finger. A run that was reset can
 * ask for something else under the same id: then everything is drawn anew, and that is said.
 */
import { ApiProblem, get, pathOf, wordsOf } from './data/api.ts';
import { askCard } from './ask-card.js';
import { decisionPanel } from './decide.js';
import { announce, el, fill } from './dom.js';
import { statusPanel } from './ask-status.js';
import { poll } from './data/polling.ts';

/** @typedef {import('./data/api-types.ts').Ask} Ask */
/** @typedef {import('./data/api-types.ts').Grounds} Grounds */
/** @typedef {import('./data/api-types.ts').Person} Person */

const LOOK_MS = 2_500;
const TICK_MS = 1_000;
const CHANGED = 'This question has changed.';

/** @typedef {{ readonly id: string, readonly me: Person, readonly signal: AbortSignal, readonly changed: () => void }} Shown */

/**
 * @param {HTMLElement} place
 * @param {Shown} shown
 */
export function askPane(place, { id, me, signal, changed }) {
  fill(place, el('p', { class: 'empty quiet', role: 'status' }, 'Fetching the question …'));
  /** @type {ReturnType<typeof draw> | undefined} */
  let drawn;
  const look = async () => {
    try {
      /** @type {Ask} */
      const ask = await get(pathOf('inbox', id), signal);
      if (signal.aborted) return;
      const shown = { me, signal, changed: decided };
      if (drawn === undefined) drawn = draw(place, ask, shown);
      else if (!drawn.shows(ask)) drawn = drawAnew(place, ask, { ...shown, before: drawn });
      drawn.refresh(ask);
    } catch (error) {
      const isGone = error instanceof ApiProblem && error.status >= 400 && error.status < 500;
      if (drawn === undefined && isGone && !signal.aborted) fill(place, notThere(error));
      throw error;
    }
  };
  const looking = poll(look, { everyMs: LOOK_MS, signal });
  const decided = () => {
    looking.soon();
    changed();
  };
}

/**
 * Who writes elsewhere on the page goes on writing there.
 * @param {HTMLElement} place
 * @param {Ask} ask
 * @param {Omit<Shown, 'id'> & { readonly before: ReturnType<typeof draw> }} options
 */
function drawAnew(place, ask, { before, ...shown }) {
  const isBegun = before.isBegun();
  const elsewhere = place.contains(document.activeElement) ? null : document.activeElement;
  before.leave();
  const drawn = draw(place, ask, shown);
  const dropped = isBegun ? ' What you had begun was about the other one, and is dropped.' : '';
  drawn.element.prepend(
    el('p', { class: 'alarm-box' }, `${CHANGED} Look at it anew before you decide.${dropped}`),
  );
  if (elsewhere instanceof HTMLElement && elsewhere !== document.body) {
    elsewhere.focus({ preventScroll: true });
  }
  announce(CHANGED + dropped);
  return drawn;
}

/** @param {unknown} error */
function notThere(error) {
  return el(
    'div',
    { class: 'empty quiet' },
    el('p', {}, wordsOf(error)),
    el('p', {}, el('a', { href: '/' }, 'Back to the inbox')),
  );
}

/**
 * @param {HTMLElement} place
 * @param {Ask} ask
 * @param {Omit<Shown, 'id'>} shown
 */
function draw(place, ask, { me, signal: left, changed }) {
  const leaving = new AbortController();
  const signal = AbortSignal.any([left, leaving.signal]);
  document.title = `${ask.tool ?? 'Question'} · Holdfast`.replace(/[^\p{L}\p{N}\p{P}\p{Zs}]/gu, '');
  const status = statusPanel(ask, me);
  const card = askCard(ask, { status: status.element, people: status.people });
  const deciding = decisionPanel(ask, { me, changed });
  const element = el('div', { class: 'ask' }, card.element, deciding.element);
  fill(place, element);
  place.scrollTo(0, 0);
  card.title.focus({ preventScroll: true });
  const ticking = setInterval(() => status.tick(), TICK_MS);
  signal.addEventListener('abort', () => clearInterval(ticking));
  void showGrounds(ask, {
    signal,
    show: (grounds) => {
      card.showGrounds(grounds);
      deciding.showGrounds(grounds);
    },
  });
  let outcome = ask.outcome;
  return {
    element,
    isBegun: deciding.isBegun,
    leave: () => leaving.abort(),
    /** @param {Ask} fresh */
    shows: ({ argsHash, openedAt }) => argsHash === ask.argsHash && openedAt === ask.openedAt,
    /** @param {Ask} fresh */
    refresh(fresh) {
      status.refresh(fresh);
      deciding.refresh(fresh);
      if (fresh.outcome === outcome) return;
      outcome = fresh.outcome;
      announce(`This question is ${outcome} now.`);
    },
  };
}

/**
 * They do not change while the question is open; without them it cannot be judged, so they are asked for until
 * they come.
 * @param {Ask} ask
 * @param {{ readonly signal: AbortSignal, readonly show: (grounds: Grounds) => void }} options
 */
async function showGrounds({ askId }, { signal, show }) {
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  poll(
    async () => {
      /** @type {Grounds} */
      const grounds = await get(pathOf('inbox', askId, 'grounds'), either);
      done.abort();
      show(grounds);
    },
    { everyMs: LOOK_MS, signal: either },
  );
}
