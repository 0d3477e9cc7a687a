/**
 * One run: what it does and did, as it happens. Its events come as a stream that goes on where it broke off;
 * everything on the page is drawn from them, but for the figures that only the run itself knows.
 */
import { get, pathOf, wordsOf, ApiProblem } from './api.js';
import { announce, el, fill } from './dom.js';
import { poll } from './polling.js';
import { follow } from './stream.js';
import { eventsPanel } from './run-events.js';
import { gauges } from './run-gauges.js';
import { grantsPanel } from './run-grants.js';
import { runHead } from './run-head.js';
import { liveText } from './run-live.js';
import { Story } from './run-story.js';
import { tabs } from './tabs.js';
import { timeline } from './run-timeline.js';
import { transcriptPanel } from './run-transcript.js';
import { waitsPanel } from './run-waits.js';

/** @typedef {import('./api-types.js').RunDetail} RunDetail */
/** @typedef {import('./api-types.js').RunEvent} RunEvent */
/** @typedef {import('./api-types.js').RunState} RunState */

const LOOK_MS = 3_000;
const STATE_EVERY = 2;

/** @param {RunDetail} run */
export function hasEnded({ status }) {
  return ['completed', 'stopped', 'failed', 'cancelled'].includes(status);
}

/**
 * @param {import('./app.js').Page} page
 * @returns {import('./app.js').View}
 */
export function runView({ signal }) {
  const element = el('article', { class: 'run', 'aria-label': 'A run' });
  return {
    name: 'run',
    element,
    show({ id = '' }) {
      document.title = 'Run · Holdfast';
      fill(element, el('p', { class: 'empty quiet', role: 'status' }, 'Fetching the run …'));
      watchRun(element, id, signal);
    },
  };
}

/**
 * @param {HTMLElement} element
 * @param {string} runId
 * @param {AbortSignal} signal
 */
function watchRun(element, runId, signal) {
  /** @type {ReturnType<typeof drawRun> | undefined} */
  let drawn;
  let looks = 0;
  const look = async () => {
    try {
      /** @type {RunDetail} */
      const run = await get(pathOf('runs', runId), signal);
      if (signal.aborted) return;
      drawn ??= drawRun(element, run, { signal, changed: () => looking.soon() });
      drawn.refresh(run);
      looks += 1;
      const { refreshState } = drawn;
      if (!hasEnded(run) && looks % STATE_EVERY === 1)
        await stateOf(runId, signal).then(refreshState);
    } catch (error) {
      const isGone = error instanceof ApiProblem && error.status >= 400 && error.status < 500;
      if (drawn === undefined && isGone && !signal.aborted) {
        fill(
          element,
          el(
            'div',
            { class: 'empty quiet' },
            wordsOf(error),
            el('a', { href: '/runs' }, 'All runs'),
          ),
        );
      }
      throw error;
    }
  };
  const looking = poll(look, { everyMs: LOOK_MS, signal });
}

/**
 * Undefined while no worker answers: the events say enough until one does.
 * @param {string} runId
 * @param {AbortSignal} signal
 * @returns {Promise<RunState | undefined>}
 */
function stateOf(runId, signal) {
  return get(pathOf('runs', runId, 'state'), signal).then(
    (state) => /** @type {RunState} */ (state),
    () => undefined,
  );
}

/**
 * @param {HTMLElement} element
 * @param {RunDetail} first
 * @param {{ readonly signal: AbortSignal, readonly changed: () => void }} page
 */
function drawRun(element, first, { signal, changed }) {
  const { runId } = first;
  const head = runHead(first, changed);
  const waits = waitsPanel(runId, signal);
  const figures = gauges();
  const grants = grantsPanel();
  const steps = timeline(runId);
  const live = liveText(runId, signal);
  const raw = eventsPanel();
  const said = transcriptPanel(runId, signal);
  const kept = keeper({ steps, live, raw, changed });
  const panels = [
    { name: 'Timeline', panel: el('div', {}, steps.element, live.element) },
    { name: 'Conversation', panel: said.element, opened: () => void said.open(kept.events()) },
    { name: 'Events', panel: raw.element, opened: () => raw.open(kept.events()) },
  ];
  fill(
    element,
    head.element,
    waits.element,
    figures.element,
    grants.element,
    tabs('Of the run', panels),
  );
  /** @type {RunState | undefined} */
  let state;
  const drawFigures = soon(() => {
    const story = kept.story();
    const known = story.result === undefined ? state : undefined;
    figures.refresh(known, story);
    grants.refresh(known);
  });
  void follow(pathOf('runs', runId, 'stream'), {
    signal,
    entry({ event, data }) {
      if (event === 'reset') kept.reset(/** @type {{ fromSeq: number }} */ (data).fromSeq);
      if (event === 'event') kept.take(/** @type {RunEvent} */ (data));
      drawFigures();
    },
  });
  let status = first.status;
  return {
    /** @param {RunDetail} run */
    refresh(run) {
      head.refresh(run);
      if (hasEnded(run)) {
        live.end();
        waits.end();
      }
      if (run.status !== status) announce(`The run is ${run.status.replaceAll('_', ' ')}.`);
      status = run.status;
    },
    /** @param {RunState | undefined} found */
    refreshState(found) {
      state = found ?? state;
      drawFigures();
    },
  };
}

/**
 * The events that are known, and what is drawn of them.
 * @param {{ steps: ReturnType<typeof timeline>, live: ReturnType<typeof liveText>, raw: ReturnType<typeof eventsPanel>, changed: () => void }} views
 */
function keeper({ steps, live, raw, changed }) {
  /** @type {RunEvent[]} */
  let events = [];
  let story = new Story();
  const take = (/** @type {RunEvent} */ event) => {
    events.push(event);
    raw.take(event);
    live.take(event);
    const step = story.take(event);
    if (step !== undefined) steps.show(story, step);
    if (event.type === 'run_result') changed();
  };
  return {
    events: () => events,
    story: () => story,
    take,
    /**
     * What was seen from there on did not happen.
     * @param {number} fromSeq
     */
    reset(fromSeq) {
      const valid = events.filter(({ stamp }) => stamp.seq < fromSeq);
      events = [];
      story = new Story();
      steps.clear();
      raw.clear(events);
      for (const event of valid) take(event);
      announce('The run was reset.');
    },
  };
}

/**
 * Once, before the next picture is shown, however often it is asked for.
 * @param {() => void} draw
 */
function soon(draw) {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      draw();
    });
  };
}
