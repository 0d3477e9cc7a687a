/** The events themselves, as they are stored: the newest last, a piece at a time. */
import { el, fill } from './dom.js';
import { exactTime } from './format.js';
import { inertLine } from './inert.js';
import { exact } from './json-view.js';

/** @typedef {import('./api-types.js').RunEvent} RunEvent */

const SHOWN_AT_FIRST = 200;
const SHOWN_MORE = 500;

export function eventsPanel() {
  const type = el(
    'select',
    { 'aria-label': 'Type of event' },
    el('option', { value: '' }, 'Every type'),
  );
  const list = el('ol', { class: 'events' });
  const older = el('div', { class: 'list-end' });
  const element = el('div', { class: 'events-panel' }, type, older, list);
  /** @type {readonly RunEvent[]} */
  let events = [];
  /** @type {Set<string>} */
  const types = new Set();
  let shown = SHOWN_AT_FIRST;
  let isOpen = false;
  const fits = (/** @type {RunEvent} */ event) => type.value === '' || event.type === type.value;
  const draw = () => {
    const fitting = events.filter(fits);
    const rows = fitting.slice(-shown);
    fill(list, ...rows.map(eventRow));
    const hidden = fitting.length - rows.length;
    fill(
      older,
      hidden > 0 &&
        el(
          'button',
          { type: 'button', class: 'button', onclick: more },
          `Show older ones (${hidden})`,
        ),
    );
  };
  const more = () => {
    shown += SHOWN_MORE;
    draw();
  };
  type.addEventListener('change', draw);
  return {
    element,
    /** @param {readonly RunEvent[]} all */
    open(all) {
      events = all;
      isOpen = true;
      draw();
    },
    /**
     * @param {readonly RunEvent[]} all The list that is filled anew.
     */
    clear(all) {
      events = all;
      list.replaceChildren();
    },
    /** @param {RunEvent} event */
    take(event) {
      if (!types.has(event.type)) {
        types.add(event.type);
        type.append(el('option', { value: event.type }, event.type));
      }
      if (isOpen && fits(event)) list.append(eventRow(event));
    },
  };
}

/** @param {RunEvent} event */
function eventRow(event) {
  const { seq, at } = event.stamp;
  const row = exact('', event);
  const summary = row.querySelector('summary');
  if (summary !== null) {
    fill(
      summary,
      el('span', { class: 'event-seq' }, seq),
      el('span', { class: 'event-type' }, event.type),
      el('span', { class: 'event-about' }, inertLine(aboutOf(event), 100)),
      el('time', { title: exactTime(at) }, new Date(at).toISOString().slice(11, 23)),
    );
  }
  return el('li', {}, row);
}

/** @param {RunEvent} event */
function aboutOf(event) {
  if ('tool' in event && event.tool !== undefined) return event.tool;
  if ('reason' in event && event.reason !== undefined) return event.reason;
  if (event.type === 'retry') return `attempt ${event.attempt}, after ${event.class}`;
  return 'code' in event && event.code !== undefined ? event.code : '';
}
