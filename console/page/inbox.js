/**
 * The inbox: what waits for a person, beside the one that is looked at.
 * The list is pages of the server's: more of them are fetched when the end comes near. It looks again every few
 * seconds and changes only the rows that have changed, so that focus and place stay.
 */
import { get } from './data/api.ts';
import { button, el, fill } from './dom.js';
import { whole } from './format.js';
import { filterControls } from './inbox-filters.js';
import { listState } from './inbox-rows.js';
import { askPane } from './ask-pane.js';
import { waitingCount } from './data/waiting-count.ts';
import { poll } from './data/polling.ts';

/** @typedef {import('./data/api-types.ts').Ask} Ask */
/** @typedef {import('./data/api-types.ts').InboxPage} InboxPage */
/** @typedef {import('./shell/old-view.tsx').OldPage} Page */

const LOOK_MS = 2_500;
const PAGE_ROWS = 50;
const FURTHER_ROWS = 100;
/** As many as one answer holds: further ones are looked at again when they come into view. */
const REFRESHED_ROWS_MAX = 200;

/** @param {Page} page */
export function inboxView(page) {
  const list = inboxList(page);
  const detail = el('section', { class: 'inbox-detail', 'aria-label': 'The question' });
  const element = el('div', { class: 'inbox' }, list.element, detail);
  /** @type {AbortController | undefined} */
  let leaving;
  page.signal.addEventListener('abort', () => {
    leaving?.abort();
    // Nobody counts while another view is open.
    waitingCount.set(undefined);
  });
  return {
    name: 'inbox',
    element,
    /** @param {{ readonly id?: string }} place */
    show({ id }) {
      leaving?.abort();
      leaving = new AbortController();
      element.classList.toggle('has-detail', id !== undefined);
      list.select(id);
      if (id === undefined) {
        document.title = 'Inbox · Holdfast';
        fill(detail, nothingSelected());
        return;
      }
      const { signal } = leaving;
      askPane(detail, { id, me: page.me, signal, changed: () => list.soon() });
    },
  };
}

function nothingSelected() {
  return el(
    'div',
    { class: 'empty quiet' },
    el('p', {}, 'Choose a question to see exactly what would happen.'),
    el(
      'p',
      { class: 'help' },
      el('kbd', {}, '/'),
      ' search  ',
      el('kbd', {}, '↑'),
      ' ',
      el('kbd', {}, '↓'),
      ' move',
    ),
  );
}

/** @param {Page} page */
function inboxList({ signal }) {
  const controls = filterControls(() => restart());
  const rows = el('ul', { class: 'rows', 'aria-label': 'Waiting for a decision' });
  const status = el('p', { class: 'list-status', role: 'status' });
  const end = el('div', { class: 'list-end' });
  const element = el(
    'section',
    { class: 'inbox-list', 'aria-label': 'Inbox' },
    el('h1', {}, 'Inbox'),
    controls.element,
    status,
    el('div', { class: 'scroller' }, rows, end),
  );
  const state = listState(rows);
  let generation = 0;
  const fetchRows = async (
    /** @type {number} */ limit,
    /** @type {string | undefined} */ cursor,
  ) => {
    const mine = generation;
    const from = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    /** @type {InboxPage} */
    const found = await get(`/v1/inbox?${controls.query(limit)}${from}`, signal);
    if (mine !== generation) return;
    state.take(found, cursor === undefined);
    const isFiltered = controls.isFiltered();
    status.textContent = statusOf(found.total, isFiltered);
    if (!isFiltered) waitingCount.set(found.total);
    if (found.total === 0) fill(end, emptyList(isFiltered));
    else fill(end, state.next() !== undefined && more);
  };
  const look = () =>
    fetchRows(Math.min(REFRESHED_ROWS_MAX, Math.max(PAGE_ROWS, state.size())), undefined);
  const looking = poll(look, { everyMs: LOOK_MS, signal });
  const restart = () => {
    generation += 1;
    state.clear();
    looking.soon();
  };
  const fetchMore = oneAtATime(async () => {
    const cursor = state.next();
    if (cursor !== undefined) await fetchRows(FURTHER_ROWS, cursor);
  });
  const more = button('Show more', { press: fetchMore });
  whenNear(end, fetchMore, signal);
  moveByKeys(rows, controls.search, signal);
  return { element, select: state.select, soon: looking.soon };
}

/**
 * What fails is tried again by the next press or scroll.
 * @param {() => Promise<void>} work
 */
function oneAtATime(work) {
  /** @type {Promise<void> | undefined} */
  let underWay;
  return () => {
    underWay ??= work()
      .catch(() => {})
      .finally(() => (underWay = undefined));
    return underWay;
  };
}

/**
 * @param {HTMLElement} element
 * @param {() => Promise<void>} work
 * @param {AbortSignal} signal
 */
function whenNear(element, work, signal) {
  const observer = new IntersectionObserver(
    (entries) => {
      if (entries.some((entry) => entry.isIntersecting)) void work();
    },
    { rootMargin: '600px' },
  );
  observer.observe(element);
  signal.addEventListener('abort', () => observer.disconnect());
}

/**
 * @param {number} total
 * @param {boolean} isFiltered
 */
function statusOf(total, isFiltered) {
  if (total === 0) return isFiltered ? 'Nothing found' : '';
  return `${whole(total)} ${isFiltered ? 'found' : 'waiting'}, oldest first`;
}

/** @param {boolean} isFiltered */
function emptyList(isFiltered) {
  return isFiltered
    ? el('p', { class: 'empty quiet' }, 'Nothing that waits fits this search.')
    : el(
        'div',
        { class: 'empty quiet' },
        el('p', { class: 'big' }, 'Nothing waits.'),
        el('p', {}, 'Questions of runs appear here by themselves.'),
      );
}

/**
 * Arrows move between rows, `/` goes to the search.
 * @param {HTMLElement} rows
 * @param {HTMLInputElement} search
 * @param {AbortSignal} signal
 */
function moveByKeys(rows, search, signal) {
  rows.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (step === undefined) return;
    const links = [...rows.querySelectorAll('a')];
    const here = links.findIndex((link) => link === document.activeElement);
    event.preventDefault();
    links[Math.min(links.length - 1, Math.max(0, here + step))]?.focus();
  });
  document.addEventListener(
    'keydown',
    (event) => {
      const isTyping =
        event.target instanceof Element && event.target.closest('input, textarea, select');
      if (isTyping !== null && isTyping !== false) return;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === '/') {
        event.preventDefault();
        search.focus();
      } else if (event.key === 'ArrowDown' && !rows.contains(document.activeElement)) {
        rows.querySelector('a')?.focus();
      }
    },
    { signal },
  );
}
