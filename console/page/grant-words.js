/** What a standing grant allows, in words: for whoever is about to give one, and for whoever looks at a run. */
import { el } from './dom.js';
import { highlightsOf } from './highlights.js';
import { inertLine } from './inert.js';

/** @typedef {import('./data/api-types.ts').GrantCondition} Condition */
/** @typedef {import('./data/api-types.ts').Json} Json */
/** @typedef {import('./dom.js').Child} Child */

const VALUE_CHARS = 200;

/**
 * What must hold of a call's arguments.
 * @param {readonly Condition[]} when
 */
export function conditionList(when) {
  /** @type {{ [path: string]: Json }} */
  const unit = {};
  const currency = when.find(({ path }) => path === 'currency')?.equals;
  if (typeof currency === 'string') unit['currency'] = currency;
  return el(
    'ul',
    { class: 'conditions' },
    ...when.map((condition) => {
      const { path, equals, lte } = condition;
      const bound = equals ?? lte;
      const figure = typeof bound === 'number' ? bound : undefined;
      const [amount] =
        figure === undefined ? [] : highlightsOf({ ...unit, [path]: figure }).amounts;
      const isWritten = amount === undefined || amount.value === String(figure);
      return el(
        'li',
        {},
        el('b', {}, inertLine(path, 100)),
        ' ',
        ...conditionWords(condition),
        ...(isWritten ? [] : [' (', inertLine(amount.value, 60), ')']),
      );
    }),
  );
}

/**
 * @param {Condition} condition
 * @returns {Child[]}
 */
function conditionWords({ equals, lte, gte, exists }) {
  /** @type {Child[][]} */
  const parts = [];
  if (equals !== undefined) parts.push(['is exactly ', shownValue(equals)]);
  if (gte !== undefined) parts.push(['is at least ', shownValue(gte)]);
  if (lte !== undefined) parts.push(['is at most ', shownValue(lte)]);
  if (exists !== undefined) parts.push([exists ? 'is given' : 'is not given']);
  return parts.flatMap((part, place) => (place === 0 ? part : [' and ', ...part]));
}

/** @param {unknown} value */
function shownValue(value) {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return el('span', { class: 'condition-value' }, inertLine(text, VALUE_CHARS));
}

/**
 * What so many calls can take together, for amounts that the conditions bound.
 * @param {readonly Condition[]} when
 * @param {number} uses
 * @returns {string[]}
 */
export function ceilingsOf(when, uses) {
  const bounded = when.flatMap(({ path, equals, lte }) => {
    const value = /** @type {Json | undefined} */ (equals ?? lte);
    return value === undefined ? [] : [[path, times(value, uses)]];
  });
  return highlightsOf(Object.fromEntries(bounded)).amounts.map(({ value }) => value);
}

/**
 * @param {Json} value
 * @param {number} factor
 * @returns {Json}
 */
function times(value, factor) {
  if (typeof value === 'number') return value * factor;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, times(part, factor)]),
  );
}
