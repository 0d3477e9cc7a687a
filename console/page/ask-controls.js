/** What the business controls say of an action: what was done before, and what is used up of its limits. */
import { el } from './dom.js';
import { dateTime, whole, words } from './format.js';
import { inertLine } from './inert.js';

/** @typedef {import('./data/api-types.ts').Ask} Ask */
/** @typedef {NonNullable<Ask['limits']>} Limits */

/** @param {NonNullable<Ask['repeats']>} repeats */
export function repeatsSection({ identity, earlier, more }) {
  return el(
    'section',
    { class: 'repeats alarm-box' },
    el('h3', {}, 'This was done before'),
    el('p', {}, 'For ', inertLine(identity.join(', '), 200), ':'),
    el(
      'ul',
      {},
      ...earlier.map(({ at, state, amount, runId, approvedBy }) =>
        el(
          'li',
          {},
          `${dateTime(at)}: ${words(state)}`,
          amount !== undefined && `, amount ${whole(amount)}`,
          ', by run ',
          el('a', { href: `/runs/${encodeURIComponent(runId)}` }, inertLine(runId, 80)),
          ', on the word of ',
          approvedBy.length === 0 ? 'nobody' : inertLine(approvedBy.join(', '), 200),
        ),
      ),
      more === true && el('li', {}, 'and more'),
    ),
  );
}

/** @type {{ readonly [scope in Limits['limits'][number]['scope']]: string }} */
const SCOPES = {
  perCustomerAndDay: 'For this customer today',
  perDay: 'Today',
  inAll: 'In all',
};

/**
 * As it was when the call was proposed; what binds is looked at again when it is done.
 * @param {Limits} outlook
 */
export function limitsSection({ amount, customer, limits, exceeded }) {
  const rows = limits.flatMap((limit) => [
    limit.amount !== undefined &&
      limitRow(SCOPES[limit.scope], { used: limit.used.amount, takes: amount, of: limit.amount }),
    limit.count !== undefined &&
      limitRow(`${SCOPES[limit.scope]}, calls`, {
        used: limit.used.count,
        takes: 1,
        of: limit.count,
      }),
  ]);
  return el(
    'section',
    { class: exceeded === true ? 'alarm-box' : '' },
    el(
      'h3',
      {},
      'Limits of the tool',
      customer !== undefined && [' for ', inertLine(customer, 100)],
    ),
    exceeded === true &&
      el(
        'p',
        { class: 'alarm' },
        'This is beyond them: it would be refused even if it is approved.',
      ),
    el('ul', { class: 'limits' }, ...rows),
  );
}

/**
 * @param {string} name
 * @param {{ readonly used: number, readonly takes: number, readonly of: number }} figures
 */
function limitRow(name, { used, takes, of }) {
  const text = `${whole(used)} of ${whole(of)} used, this takes ${whole(takes)}`;
  return el(
    'li',
    {},
    el('span', { class: 'limit-name' }, name),
    el('span', {}, text),
    el('progress', {
      max: Math.max(1, of),
      value: Math.min(of, used + takes),
      'aria-label': `${name}: ${text}`,
    }),
  );
}
