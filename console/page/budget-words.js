/** A budget as people read it: what it counts, how much of it is used, how much more is asked for. Pure. */
import { cost, duration, whole } from './format.js';

/** @typedef {import('./data/api-types.ts').Ask} Ask */
/** @typedef {import('./highlights.js').Highlight} Highlight */
/** @typedef {{ readonly budget?: unknown, readonly limit?: unknown, readonly used?: unknown, readonly amount?: unknown }} Asked */

/** @type {{ readonly [budget: string]: string }} */
const NOUNS = {
  maxTurns: 'turns',
  maxToolCalls: 'tool calls',
  maxInputTokens: 'input tokens',
  maxOutputTokens: 'output tokens',
};

/** @param {string} budget */
function nounOf(budget) {
  if (budget.endsWith('MicroUsd')) return 'money';
  if (budget.endsWith('Ms')) return 'time';
  return (Object.hasOwn(NOUNS, budget) ? NOUNS[budget] : undefined) ?? `of ${budget}`;
}

/**
 * A number of a budget, as its name says what it counts.
 * @param {string} budget
 * @param {unknown} value
 */
export function budgetValue(budget, value) {
  if (typeof value !== 'number') return String(value);
  if (budget.endsWith('MicroUsd')) return cost(value);
  return budget.endsWith('Ms') ? duration(value) : whole(value);
}

/** @param {Ask} ask */
export function budgetTitle({ args }) {
  const { budget } = /** @type {Asked} */ (args ?? {});
  return typeof budget === 'string' ? `More ${nounOf(budget)}?` : 'More of a budget?';
}

/**
 * @param {Ask} ask
 * @returns {Highlight[]}
 */
export function budgetFigures({ args }) {
  const { budget, limit, used, amount } = /** @type {Asked} */ (args ?? {});
  if (typeof budget !== 'string') return [];
  const noun = Object.hasOwn(NOUNS, budget) ? ` ${NOUNS[budget]}` : '';
  const shown = (/** @type {unknown} */ value) => budgetValue(budget, value);
  return [
    figure('used', `${shown(used)} of ${shown(limit)}${noun}`),
    figure('asked for', `${shown(amount)} more`),
  ];
}

/**
 * @param {string} name
 * @param {string} value
 * @returns {Highlight}
 */
function figure(name, value) {
  return { name, value, exact: value };
}
