/**
 * Approving a call together with later ones like it: a standing grant. Invariants: what it allows is said in
 * words before it is sent, and again before it is confirmed; what is sent is what was confirmed.
 */
import { button, el, fill } from './dom.js';
import { now } from './data/connection.ts';
import { dateTime, plural } from './format.js';
import { ceilingsOf, conditionList } from './grant-words.js';
import { CONDITIONS_MAX, grantRows, listsAllArguments, unboundOf } from './grant-rows.js';
import { inertLine } from './inert.js';
import { exact } from './json-view.js';

/** @typedef {import('./data/api-types.ts').Ask} Ask */
/** @typedef {import('./data/api-types.ts').GrantCondition} Condition */
/** @typedef {import('./data/api-types.ts').Grounds} Grounds */
/** @typedef {import('./data/api-types.ts').Json} Json */
/** @typedef {import('./data/api-types.ts').Schema} Schema */
/** @typedef {import('./decide.js').Desk} Desk */
/** @typedef {import('./grant-rows.js').Row} Row */
/** @typedef {{ readonly matcher: { readonly tool: string, readonly when: readonly Condition[] }, readonly uses: number, readonly expiresInMs: number }} Grant */
/** @typedef {{ ok: true, grant: Grant } | { ok: false, fault: string, input?: HTMLElement | undefined }} Read */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** @type {readonly (readonly [ms: number, words: string])[]} */
const TIMES = [
  [15 * MINUTE, '15 minutes'],
  [HOUR, '1 hour'],
  [8 * HOUR, '8 hours'],
  [24 * HOUR, '1 day'],
  [7 * 24 * HOUR, '7 days'],
];
const USES_MAX = 1_000;

/**
 * @param {Ask} ask
 * @param {Desk} desk
 * @param {Grounds} grounds
 */
export function grantForm(ask, desk, grounds) {
  const place = el('div', { class: 'grant' });
  const fields = grantFields(ask, grounds);
  const edit = () => {
    fill(place, form);
    fields.uses.focus();
  };
  const review = () => {
    const read = fields.read();
    if (!read.ok) {
      read.input?.focus();
      return desk.complain(read.fault);
    }
    desk.complain('');
    const confirm = confirmation(read.grant, { fields, edit, desk });
    fill(place, confirm);
    confirm.querySelector('p')?.focus();
  };
  const form = el(
    'form',
    {
      'aria-label': 'Approve more like it',
      onsubmit: (event) => {
        event.preventDefault();
        review();
      },
    },
    ...fields.elements,
    el(
      'div',
      { class: 'choices' },
      el('button', { type: 'submit', class: 'button primary' }, 'Look it over …'),
      button('Back', { press: () => desk.open(undefined) }),
    ),
  );
  fill(place, form);
  return place;
}

/**
 * @param {Ask} ask
 * @param {Grounds} grounds
 */
function grantFields(ask, { tool }) {
  const schema = /** @type {Schema | undefined} */ (tool?.inputSchema);
  const rows = grantRows(/** @type {Json | undefined} */ (ask.args), schema);
  const uses = el('input', {
    id: 'grant-uses',
    class: 'number',
    type: 'text',
    inputmode: 'numeric',
    autocomplete: 'off',
    value: 1,
  });
  const forMs = el(
    'select',
    { id: 'grant-for' },
    ...TIMES.map(([ms, words]) => el('option', { value: ms, selected: ms === HOUR }, words)),
  );
  const said = el('div', { class: 'grant-words', 'aria-live': 'polite' });
  const read = () => readGrant({ ask, rows, uses, forMs });
  const more = alarmOfMore(schema);
  const words = (/** @type {Grant} */ grant, /** @type {boolean} */ listed) =>
    grantWords(grant, { rows, alarm: more, listed });
  const draw = () => {
    const found = read();
    // The conditions stand above, in their rows.
    fill(said, found.ok ? words(found.grant, false) : el('p', { class: 'help' }, found.fault));
  };
  const which = el(
    'fieldset',
    { class: 'grant-rows' },
    el('legend', {}, 'Which calls'),
    ...rows.map(({ element }) => element),
  );
  for (const part of [uses, forMs, which]) {
    part.addEventListener('input', draw);
    part.addEventListener('change', draw);
  }
  draw();
  const howMany = el('div', { class: 'form-field' });
  howMany.append(el('label', { for: uses.id }, 'How many more calls'), uses);
  const howLong = el('div', { class: 'form-field' });
  howLong.append(el('label', { for: forMs.id }, 'For how long'), forMs);
  return {
    uses,
    read,
    words,
    elements: [el('div', { class: 'grant-extent' }, howMany, howLong), which, said],
  };
}

/**
 * @param {{ readonly ask: Ask, readonly rows: readonly Row[], readonly uses: HTMLInputElement, readonly forMs: HTMLSelectElement }} fields
 * @returns {Read}
 */
function readGrant({ ask, rows, uses, forMs }) {
  const count = Number(uses.value.trim());
  if (!Number.isSafeInteger(count) || count < 1 || count > USES_MAX) {
    return {
      ok: false,
      fault: 'How many more calls? A whole number from 1 to 1,000.',
      input: uses,
    };
  }
  /** @type {Condition[]} */
  const when = [];
  for (const row of rows) {
    const said = row.read();
    if (!said.ok) return said;
    if (said.condition !== undefined) when.push(said.condition);
  }
  if (when.length === 0) {
    return {
      ok: false,
      fault: 'At least one argument must be bounded: consent to anything is none.',
    };
  }
  if (when.length > CONDITIONS_MAX) {
    return { ok: false, fault: `At most ${CONDITIONS_MAX} arguments can be compared.` };
  }
  const matcher = { tool: ask.tool ?? '', when };
  return { ok: true, grant: { matcher, uses: count, expiresInMs: Number(forMs.value) } };
}

/**
 * What no row binds: arguments that this desk cannot list.
 * @param {Schema | undefined} schema
 */
function alarmOfMore(schema) {
  if (listsAllArguments(schema)) return undefined;
  const why =
    schema === undefined
      ? 'this desk does not know the tool.'
      : 'the tool may take others than those that this desk can list.';
  return `Arguments that are not here now may be added: ${why}`;
}

/**
 * What it allows, in words. `alarm`: what no condition can bind; `listed`: with its conditions.
 * @param {Grant} grant
 * @param {{ readonly rows: readonly Row[], readonly alarm: string | undefined, readonly listed: boolean }} options
 */
function grantWords({ matcher, uses, expiresInMs }, { rows, alarm, listed }) {
  const unbound = unboundOf(rows);
  const ceilings = ceilingsOf(matcher.when, uses);
  const more = uses === 1 ? 'one more call' : `up to ${plural(uses, 'more call')}`;
  return el(
    'div',
    {},
    el(
      'p',
      { tabindex: -1 },
      'This call is approved. After it, ',
      el('b', {}, more, ' of ', inertLine(matcher.tool, 100)),
      ' in this run may go ahead ',
      el('b', {}, 'without anybody being asked'),
      `, until about ${dateTime(now() + expiresInMs)}, whenever all of this holds${listed ? ':' : '.'}`,
    ),
    listed && conditionList(matcher.when),
    unbound.length > 0 &&
      el('p', { class: 'alarm' }, 'Without any bound: ', inertLine(unbound.join(', '), 200), '.'),
    ceilings.length > 0 &&
      el(
        'p',
        {},
        'Together these later calls can take up to ',
        el('b', {}, ceilings.join(', ')),
        '.',
      ),
    alarm !== undefined && el('p', { class: 'alarm' }, alarm),
  );
}

const BOUNDS =
  'It cannot be taken back. It ends with its last call, with its time or with the run. A freeze, the limits of the tool, what the policy denies and the question about doing the same twice still hold.';

/**
 * @param {Grant} grant
 * @param {{ readonly fields: ReturnType<typeof grantFields>, readonly edit: () => void, readonly desk: Desk }} options
 */
function confirmation(grant, { fields, edit, desk }) {
  const label = `Approve this and ${grant.uses === 1 ? 'one more' : `up to ${grant.uses} more`}`;
  return el(
    'div',
    { class: 'confirm', role: 'group', 'aria-label': 'Confirm' },
    el('div', { class: 'grant-words' }, fields.words(grant, true)),
    el('p', { class: 'help' }, BOUNDS),
    exact('Exactly what is sent', grant),
    el(
      'div',
      { class: 'choices' },
      button(label, { kind: 'primary', press: () => desk.decide({ decision: 'approve', grant }) }),
      button('Change it', { press: edit }),
    ),
  );
}
