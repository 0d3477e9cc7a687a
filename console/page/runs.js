/** Runs, newest first, with filters. The newest page is looked at again every few seconds. */
import { get } from './api.js';
import { now } from './connection.js';
import { button, el, fill } from './dom.js';
import { cost, dateTime, duration, exactTime, words } from './format.js';
import { inertLine } from './inert.js';
import { poll } from './polling.js';

/** @typedef {import('./api-types.js').Run} Run */
/** @typedef {{ readonly items: Run[], readonly next?: string }} RunsPage */

const LOOK_MS = 4_000;
const REDRAW_MS = 30_000;
const PAGE_ROWS = 50;
const TYPING_MS = 300;

const STATUSES = [
  'running',
  'awaiting_approval',
  'awaiting_input',
  'awaiting_outcome',
  'awaiting_budget',
  'awaiting_user',
  'completed',
  'stopped',
  'failed',
  'cancelled',
];

/**
 * @param {import('./app.js').Page} page
 * @returns {import('./app.js').View}
 */
export function runsView({ me, signal }) {
  const filters = filterForm(() => restart());
  const table = runsTable();
  const end = el('div', { class: 'list-end' });
  const element = el(
    'section',
    { class: 'runs', 'aria-label': 'Runs' },
    el(
      'header',
      { class: 'page-head' },
      el('h1', {}, 'Runs'),
      el('p', { class: 'help' }, 'Tenant ', inertLine(me.tenant)),
    ),
    filters.element,
    table.element,
    end,
  );
  /** @type {string | undefined} */
  let next;
  let generation = 0;
  const fetchPage = async (/** @type {string | undefined} */ cursor) => {
    const mine = generation;
    /** @type {RunsPage} */
    const found = await get(`/v1/runs?${filters.query(cursor)}`, signal);
    if (mine !== generation) return;
    // The newest page says where the next one begins only while it is the only one.
    if (cursor !== undefined || table.size() <= PAGE_ROWS) next = found.next;
    table.take(found.items);
    const isEmpty = table.size() === 0;
    fill(end, isEmpty ? emptyRuns(filters.isFiltered()) : next !== undefined && older);
  };
  const older = button('Show older runs', { press: () => fetchPage(next).catch(() => {}) });
  const looking = poll(() => fetchPage(undefined), { everyMs: LOOK_MS, signal });
  const restart = () => {
    generation += 1;
    table.clear();
    next = undefined;
    looking.soon();
  };
  return { name: 'runs', element, show: () => void (document.title = 'Runs · Holdfast') };
}

function runsTable() {
  const body = el('tbody');
  const columns = ['Status', 'Run', 'Agent', 'Started', 'Took', 'Cost'];
  const element = el(
    'table',
    { class: 'panel run-table' },
    el('thead', {}, el('tr', {}, ...columns.map((name) => el('th', { scope: 'col' }, name)))),
    body,
  );
  /** @type {Map<string, Run>} */
  const known = new Map();
  let drawn = '';
  return {
    element,
    size: () => known.size,
    clear() {
      known.clear();
      body.replaceChildren();
      drawn = '';
    },
    /** @param {readonly Run[]} runs */
    take(runs) {
      for (const run of runs) known.set(run.runId, run);
      const sorted = [...known.values()].sort((a, b) => b.startedAt - a.startedAt);
      const state = sorted.map((run) => `${run.runId} ${run.updatedAt} ${clockOf(run)}`).join('\n');
      element.hidden = sorted.length === 0;
      // Drawn anew only when something changed: nobody loses their place for nothing.
      if (state === drawn) return;
      drawn = state;
      const focused = document.activeElement?.getAttribute('data-run');
      fill(body, sorted.map(runRow));
      const again = focused && body.querySelector(`[data-run="${CSS.escape(focused)}"]`);
      if (again instanceof HTMLElement) again.focus();
    },
  };
}

/** @param {boolean} isFiltered */
function emptyRuns(isFiltered) {
  return el(
    'div',
    { class: 'empty quiet' },
    el('p', { class: 'big' }, isFiltered ? 'No run fits.' : 'No run yet.'),
    !isFiltered && el('p', {}, 'Start one with ', el('code', {}, 'holdfast start'), '.'),
  );
}

/**
 * What a status means, as one of few colours.
 * @param {string} status
 */
export function statusBadge(status) {
  const tone = status.startsWith('awaiting') ? 'waiting' : status;
  return el('span', { class: `badge ${tone}` }, words(status));
}

/**
 * What an open run shows changes with the time, but not every second.
 * @param {Run} run
 */
function clockOf({ completedAt }) {
  return completedAt === undefined ? Math.floor(now() / REDRAW_MS) : '';
}

/** @param {Run} run */
function runRow(run) {
  const { runId, status, agent, goal, startedAt, completedAt, costMicroUsd, stopReason } = run;
  const took = (completedAt ?? now()) - startedAt;
  return el(
    'tr',
    {},
    el(
      'td',
      {},
      statusBadge(status),
      stopReason !== undefined &&
        stopReason !== 'completed' &&
        el('span', { class: 'stop-reason' }, words(stopReason)),
    ),
    el(
      'td',
      { class: 'run-cell' },
      el(
        'a',
        { href: `/runs/${encodeURIComponent(runId)}`, 'data-run': runId },
        inertLine(runId, 80),
      ),
      el('span', { class: 'run-goal' }, inertLine(goal, 140)),
    ),
    el('td', {}, inertLine(agent, 60)),
    el('td', {}, el('time', { title: exactTime(startedAt) }, dateTime(startedAt))),
    el('td', { class: 'figure' }, duration(Math.max(0, took))),
    el('td', { class: 'figure' }, costMicroUsd === undefined ? '–' : cost(costMicroUsd)),
  );
}

/** @param {() => void} changed */
function filterForm(changed) {
  const status = el(
    'select',
    { id: 'runs-status' },
    el('option', { value: '' }, 'Every status'),
    ...STATUSES.map((name) => el('option', { value: name }, words(name))),
  );
  const agent = el('input', {
    id: 'runs-agent',
    type: 'search',
    autocomplete: 'off',
    spellcheck: 'false',
    maxlength: 128,
  });
  const costFrom = el('input', {
    id: 'runs-cost',
    type: 'text',
    inputmode: 'decimal',
    autocomplete: 'off',
    placeholder: '0.00',
  });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  for (const input of [agent, costFrom]) {
    input.addEventListener('input', () => {
      clearTimeout(timer);
      timer = setTimeout(changed, TYPING_MS);
    });
  }
  status.addEventListener('change', changed);
  const field = (/** @type {string} */ label, /** @type {HTMLElement} */ input) =>
    el('div', { class: 'form-field' }, el('label', { for: input.id }, label), input);
  const microUsd = () => {
    const dollars = Number(costFrom.value.trim().replace(',', '.'));
    return Number.isFinite(dollars) && dollars > 0 ? Math.round(dollars * 1_000_000) : 0;
  };
  return {
    element: el(
      'search',
      { class: 'run-filters' },
      field('Status', status),
      field('Agent', agent),
      field('Cost at least, in $', costFrom),
    ),
    isFiltered: () => status.value !== '' || agent.value.trim() !== '' || microUsd() > 0,
    /** @param {string | undefined} cursor */
    query(cursor) {
      const query = new URLSearchParams({ limit: String(PAGE_ROWS) });
      if (status.value !== '') query.set('status', status.value);
      if (agent.value.trim() !== '') query.set('agent', agent.value.trim());
      if (microUsd() > 0) query.set('costFrom', String(microUsd()));
      if (cursor !== undefined) query.set('cursor', cursor);
      return query.toString();
    },
  };
}
