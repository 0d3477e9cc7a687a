/** How much of its budget a run has used. Without an answer of the run itself: what its events say. */
import { el, fill } from './dom.js';
import { cost, duration, whole } from './format.js';

/** @typedef {import('./api-types.js').RunState} RunState */
/** @typedef {import('./run-story.js').Story} Story */
/** @typedef {import('../../core/result.js').Counters} Counters */
/** @typedef {{ readonly name: string, readonly used: number, readonly limit: unknown, readonly show: (value: number) => string }} Gauge */

const NEARLY = 0.85;

export function gauges() {
  const element = el('div', { class: 'gauges' });
  return {
    element,
    /**
     * @param {RunState | undefined} state
     * @param {Story} story
     */
    refresh(state, story) {
      fill(element, ...gaugesOf(state, story).map(gauge));
    },
  };
}

/**
 * @param {RunState | undefined} state
 * @param {Story} story
 * @returns {Gauge[]}
 */
function gaugesOf(state, story) {
  const counters = /** @type {Partial<Counters>} */ (
    state?.counters ?? story.result?.counters ?? {}
  );
  const budget = /** @type {{ [name: string]: unknown }} */ (state?.budget ?? {});
  const all = [
    {
      name: 'Cost',
      used: counters.costMicroUsd ?? story.costMicroUsd,
      limit: budget['maxCostMicroUsd'],
      show: cost,
    },
    { name: 'Turns', used: counters.turnCount, limit: budget['maxTurns'], show: whole },
    {
      name: 'Tool calls',
      used: counters.toolCalls ?? story.toolCalls,
      limit: budget['maxToolCalls'],
      show: whole,
    },
    { name: 'Time at work', used: counters.activeMs, limit: budget['timeoutMs'], show: duration },
    {
      name: 'Tokens in',
      used: counters.usage?.input,
      limit: budget['maxInputTokens'],
      show: whole,
    },
    {
      name: 'Tokens out',
      used: counters.usage?.output,
      limit: budget['maxOutputTokens'],
      show: whole,
    },
  ];
  return all.flatMap((one) => (typeof one.used === 'number' ? [{ ...one, used: one.used }] : []));
}

/** @param {Gauge} shown */
function gauge({ name, used, limit, show }) {
  const isLimited = typeof limit === 'number' && limit > 0;
  const share = isLimited ? used / limit : 0;
  const text = isLimited ? `${show(used)} of ${show(limit)}` : show(used);
  return el(
    'div',
    { class: `gauge${share >= 1 ? ' full' : share >= NEARLY ? ' nearly' : ''}` },
    el('span', { class: 'gauge-name' }, name),
    el(
      'span',
      { class: 'gauge-value' },
      show(used),
      isLimited && el('span', { class: 'gauge-limit' }, ` of ${show(limit)}`),
    ),
    isLimited &&
      el('progress', { max: 1, value: Math.min(1, share), 'aria-label': `${name}: ${text}` }),
  );
}
