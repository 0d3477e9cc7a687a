/** The timeline of a run: its steps by turns, each with its share of the time, and what was said and done. */
import { now } from './connection.js';
import { el, fill } from './dom.js';
import { cost, duration, exactTime, plural } from './format.js';
import { inertLine, inertText } from './inert.js';
import { blobText, exact, folded, oneLine, readable, resultText } from './json-view.js';
import { recoveryList } from './recovery.js';
import { scaleOf } from './run-story.js';

/** @typedef {import('./run-story.js').Step} Step */
/** @typedef {import('./run-story.js').Story} Story */
/** @typedef {import('./api-types.js').RunEvent} RunEvent */

const STEPS_SHOWN_MAX = 2_000;
const DRAW_MS = 120;
const GROW_MS = 2_000;

/** @type {{ readonly [tone in Step['tone']]: string }} */
const TONE_NAMES = {
  model: 'Model',
  tool: 'Tool',
  wait: 'Wait',
  trouble: 'Trouble',
  note: 'Note',
  end: 'End',
};

/** @type {readonly (readonly [tone: Step['tone'], words: string])[]} */
const KEYS = [
  ['model', 'model'],
  ['tool', 'tool'],
  ['wait', 'waiting'],
];

/** @param {(typeof KEYS)[number]} key */
function key([tone, name]) {
  return el('span', { class: 'key' }, el('span', { class: `swatch bar ${tone}` }), name);
}

/** @param {string} runId */
export function timeline(runId) {
  const overview = el('div', {
    class: 'overview',
    role: 'img',
    'aria-label': 'The time of the run',
  });
  const legend = el('p', { class: 'legend help' });
  const list = el('ol', { class: 'steps' });
  const cut = el(
    'p',
    { class: 'help', hidden: true },
    'Only the newest steps are shown. All events are under “Events”.',
  );
  const element = el('div', { class: 'timeline' }, overview, legend, cut, list);
  /** @type {Map<string, { readonly row: HTMLElement, readonly bar: HTMLElement, redraw(step: Step): void }>} */
  const rows = new Map();
  let lastTurn = -1;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {Story | undefined} */
  let story;

  const drawBars = () => {
    timer = undefined;
    if (story === undefined) return;
    const shown = story.steps.slice(-STEPS_SHOWN_MAX);
    const end = now();
    const placeOf = scaleOf(shown, end);
    for (const step of shown) {
      const bar = rows.get(step.id)?.bar;
      if (bar !== undefined) placeBar(bar, placeOf(step.from), placeOf(step.to ?? end));
    }
    fill(overview, ...shown.map((step) => overviewBar(step, placeOf, end)));
    fill(legend, ...KEYS.map(key), legendOf(story));
    // What is under way grows.
    const isUnderWay = shown.some(({ to }) => to === undefined);
    if (isUnderWay && element.isConnected) timer = setTimeout(drawBars, GROW_MS);
  };
  return {
    element,
    clear() {
      rows.clear();
      list.replaceChildren();
      lastTurn = -1;
    },
    /**
     * @param {Story} of
     * @param {Step} step
     */
    show(of, step) {
      story = of;
      const known = rows.get(step.id);
      if (known !== undefined) known.redraw(step);
      else {
        if (isWork(step) && step.turn !== lastTurn) {
          list.append(turnHead(step));
          lastTurn = step.turn;
        }
        const made = stepRow(step, runId);
        rows.set(step.id, made);
        list.append(made.row);
        if (rows.size > STEPS_SHOWN_MAX) dropOldest(list, rows, cut);
      }
      clearTimeout(timer);
      timer = setTimeout(drawBars, DRAW_MS);
    },
  };
}

/**
 * @param {HTMLElement} list
 * @param {Map<string, unknown>} rows
 * @param {HTMLElement} cut
 */
function dropOldest(list, rows, cut) {
  const [oldest] = rows.keys();
  if (oldest !== undefined) rows.delete(oldest);
  list.firstElementChild?.remove();
  cut.hidden = false;
}

/** @param {Step} step */
function isWork({ tone }) {
  return tone !== 'note' && tone !== 'end';
}

/** @param {Step} step */
function turnHead({ turn }) {
  return el('li', { class: 'turn' }, el('h3', {}, `Turn ${turn + 1}`));
}

/**
 * @param {HTMLElement} bar
 * @param {number} from
 * @param {number} to
 */
function placeBar(bar, from, to) {
  bar.style.setProperty('--from', `${(from * 100).toFixed(2)}%`);
  bar.style.setProperty('--size', `${((to - from) * 100).toFixed(2)}%`);
}

/**
 * @param {Step} step
 * @param {(at: number) => number} placeOf
 * @param {number} end
 */
function overviewBar(step, placeOf, end) {
  const title = inertText(step.title, 100);
  const bar = el('span', { class: `bar ${step.tone} ${step.outcome ?? ''}`, title });
  placeBar(bar, placeOf(step.from), placeOf(step.to ?? end));
  return bar;
}

/** @param {Story} story */
function legendOf({ steps, modelCalls, toolCalls, retries, costMicroUsd }) {
  const first = steps[0]?.from ?? 0;
  const last = steps.reduce((latest, { to }) => Math.max(latest, to ?? now()), first);
  const waited = steps.reduce(
    (sum, step) => sum + (step.tone === 'wait' ? (step.to ?? now()) - step.from : 0),
    0,
  );
  return [
    `${duration(last - first)} in all`,
    waited > 0 && `${duration(waited)} of them waiting for people`,
    plural(modelCalls, 'model call'),
    plural(toolCalls, 'tool call'),
    retries > 0 && `asked again ${plural(retries, 'time')}`,
    cost(costMicroUsd),
  ]
    .filter((part) => part !== false)
    .join(' · ');
}

/**
 * @param {Step} first
 * @param {string} runId
 */
function stepRow(first, runId) {
  const bar = el('span', { class: `bar ${first.tone}` });
  const title = el('span', { class: 'step-title' });
  const figures = el('span', { class: 'step-figures' });
  const body = el('div', { class: 'step-body' });
  const row = el(
    'li',
    { class: `step ${first.tone}` },
    el(
      'div',
      { class: 'step-head' },
      el('span', { class: 'unseen' }, `${TONE_NAMES[first.tone]}: `),
      title,
      figures,
    ),
    el('div', { class: 'track', 'aria-hidden': 'true' }, bar),
    body,
  );
  const redraw = (/** @type {Step} */ step) => {
    row.classList.toggle('failed', step.outcome === 'error');
    bar.className = `bar ${step.tone} ${step.outcome ?? ''}`;
    fill(
      title,
      inertLine(step.title, 160),
      step.detail !== undefined &&
        el('span', { class: 'step-detail' }, inertLine(step.detail, 160)),
    );
    fill(figures, ...figuresOf(step));
    fill(body, ...bodyOf(step, runId));
  };
  redraw(first);
  return { row, bar, redraw };
}

/** @param {Step} step */
function figuresOf({ from, to, ended }) {
  const took = to === undefined ? 'under way' : to > from ? duration(to - from) : '';
  const price = ended?.type === 'model_response' ? ` · ${cost(ended.costMicroUsd)}` : '';
  return [el('time', { title: exactTime(from) }, `${took}${price}`)];
}

/**
 * @param {Step} step
 * @param {string} runId
 * @returns {(Node | null)[]}
 */
function bodyOf({ begun, ended }, runId) {
  return [...beginningOf(begun, runId), ...endOf(ended, runId)];
}

/**
 * @param {RunEvent | undefined} event
 * @param {string} runId
 */
function beginningOf(event, runId) {
  switch (event?.type) {
    case 'tool_started':
      return [folded(oneLine(event.args), () => readable(event.args, runId))];
    case 'approval_requested':
    case 'input_request':
      return [
        event.kind === 'user_message'
          ? null
          : el('a', { href: `/inbox/${encodeURIComponent(event.askId)}` }, 'Look at the question'),
      ];
    default:
      return [];
  }
}

/**
 * @param {RunEvent | undefined} event
 * @param {string} runId
 */
function endOf(event, runId) {
  switch (event?.type) {
    case 'session_init':
      return [blobText(excerptOf(event.goal), runId)];
    case 'user_message':
      return [blobText(excerptOf(event.text), runId)];
    case 'model_response':
      return [
        event.text === undefined
          ? null
          : el('div', { class: 'quoted' }, blobText(excerptOf(event.text), runId)),
        event.partial === true ? el('p', { class: 'help' }, 'It was cut off.') : null,
        event.calls.length === 0
          ? null
          : exact(
              `Proposed: ${event.calls.map(({ tool }) => tool.slice(0, 60)).join(', ')}`,
              event.calls,
            ),
      ];
    case 'tool_finished':
      return [resultOf(event, runId)];
    case 'tool_reconciled':
      return [recoveryList(event.steps)];
    case 'warning':
    case 'model_error':
      return [inertLine(event.message, 500)];
    default:
      return [];
  }
}

/**
 * @param {Extract<RunEvent, { type: 'tool_finished' }>} event
 * @param {string} runId
 */
function resultOf({ content, status }, runId) {
  const excerpt = excerptOf(content);
  const hasFailed = status !== 'ok';
  // Why it failed is read at a glance.
  if (hasFailed && excerpt.blob === undefined) return resultText(excerpt, runId, true);
  return folded(`→ ${excerpt.text}`, () => resultText(excerpt, runId, hasFailed));
}

/**
 * @param {import('../../core/json.js').StoredText} stored
 * @returns {import('./api-types.js').Excerpt}
 */
export function excerptOf(stored) {
  if ('text' in stored) return { text: stored.text };
  return { text: stored.preview, blob: stored.$blob, bytes: stored.bytes };
}
