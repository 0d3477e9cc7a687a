/** One row of the inbox: enough to find a question again, not to decide on it. */
import { now } from './data/connection.ts';
import { el, fill } from './dom.js';
import { relative } from './format.js';
import { highlightsOf } from './highlights.js';
import { inertLine } from './inert.js';

/** @typedef {import('./data/api-types.ts').Ask} Ask */
/** @typedef {import('./data/api-types.ts').Json} Json */

const SOON_MS = 3_600_000;

/** @type {{ readonly [kind in Ask['kind']]: string }} */
export const KIND_NAMES = {
  approval: 'Approval',
  outcome: 'Unknown outcome',
  budget: 'Budget',
  input: 'Question',
  user_message: 'Conversation',
};

/** @param {Ask} ask */
export function askRow(ask) {
  const link = el('a', { href: `/inbox/${encodeURIComponent(ask.askId)}` });
  const element = el('li', {}, link);
  const time = el('span', { class: 'row-time' });
  const title = ask.tool ?? KIND_NAMES[ask.kind];
  fill(
    link,
    el(
      'span',
      { class: 'row-top' },
      el('span', { class: 'row-title' }, inertLine(title, 80)),
      time,
    ),
    el('span', { class: 'row-main' }, ...summaryOf(ask)),
    el(
      'span',
      { class: 'row-foot' },
      el('span', { class: `badge ${ask.kind}` }, KIND_NAMES[ask.kind]),
      ask.quorum > 1 && el('span', { class: 'badge' }, `${ask.quorum} people`),
      el('span', { class: 'row-run' }, inertLine(ask.runId, 60)),
    ),
  );
  return {
    element,
    openedAt: ask.openedAt,
    /** @param {Ask} fresh */
    refresh(fresh) {
      const left = fresh.expiresAt - now();
      const text =
        left <= 0 ? 'expiring' : `${relative(fresh.expiresAt, now()).replace('in ', '')} left`;
      if (time.textContent !== text) time.textContent = text;
      time.classList.toggle('soon', left < SOON_MS);
    },
    /** @param {boolean} isSelected */
    mark(isSelected) {
      if (isSelected) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    },
  };
}

/** @param {Ask} ask */
function summaryOf(ask) {
  if (ask.question !== undefined && ask.kind !== 'approval') return [inertLine(ask.question, 140)];
  const { amounts, recipients } = highlightsOf(/** @type {Json} */ (ask.args));
  const parts = [...amounts.slice(0, 1), ...recipients.slice(0, 1)];
  if (parts.length === 0) return [inertLine(JSON.stringify(ask.args ?? {}), 140)];
  return parts.map(({ value }, place) =>
    el(
      'span',
      { class: place === 0 && amounts.length > 0 ? 'row-amount' : '' },
      inertLine(value, 80),
    ),
  );
}
