/** Approvals of a run that cover calls which are still to come. */
import { el, fill } from './dom.js';
import { now } from './connection.js';
import { dateTime, plural, relative } from './format.js';
import { conditionList } from './grant-words.js';
import { inertLine } from './inert.js';

/** @typedef {import('./api-types.js').RunState} RunState */
/** @typedef {import('./api-types.js').StandingGrant} StandingGrant */

export function grantsPanel() {
  const element = el('section', { class: 'grants', 'aria-label': 'Standing grants', hidden: true });
  let drawn = '';
  return {
    element,
    /**
     * @param {RunState | undefined} state Undefined: the run has ended, or cannot be asked.
     */
    refresh(state) {
      // The run looks at its clock when something happens; time goes on.
      const grants = (state?.grants ?? []).filter(({ expiresAt }) => expiresAt >= now());
      const next = JSON.stringify(grants);
      if (next === drawn) return;
      drawn = next;
      element.hidden = grants.length === 0;
      fill(element, el('h2', {}, 'Goes ahead without being asked'), ...grants.map(grantShown));
    },
  };
}

/** @param {StandingGrant} grant */
function grantShown({ id, tool, when, usesLeft, expiresAt, by }) {
  return el(
    'div',
    { class: 'notice grant-shown' },
    el(
      'p',
      {},
      el('b', {}, inertLine(tool, 100)),
      `: ${plural(usesLeft, 'more call')}, until ${dateTime(expiresAt)} (${relative(expiresAt, now())}), whenever all of this holds:`,
    ),
    conditionList(when),
    el(
      'p',
      { class: 'help' },
      'Given by ',
      inertLine(by.join(', '), 200),
      ' with ',
      el('a', { href: `/inbox/${encodeURIComponent(id)}` }, 'this approval'),
      '.',
    ),
  );
}
