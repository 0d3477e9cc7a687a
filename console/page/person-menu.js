/** Who is logged in; in local development also as whom to act, so that one person can try several. */
import { el, fill } from './dom.js';
import { actAs, acting, forgetToken } from './session.js';

/** @typedef {import('./api-types.js').Person} Person */

/**
 * @param {HTMLElement} place
 * @param {Person} me
 * @param {() => void} changed
 */
export function showPerson(place, me, changed) {
  const name = el('span', { class: 'person-name' }, me.name);
  const summary = el('summary', { 'aria-label': `Logged in as ${me.name}` }, name);
  const menu = el(
    'details',
    { class: 'menu' },
    summary,
    el(
      'div',
      { class: 'menu-body panel' },
      el(
        'dl',
        { class: 'facts' },
        row('Person', me.id),
        row('Tenant', me.tenant),
        row('Roles', me.roles.join(', ')),
      ),
      me.via === 'local' && actingForm(changed),
      el('button', { type: 'button', class: 'button quiet', onclick: () => logOut() }, 'Log out'),
    ),
  );
  menu.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    menu.open = false;
    summary.focus();
  });
  fill(place, menu);
}

/**
 * @param {string} name
 * @param {string} value
 */
function row(name, value) {
  return el('div', { class: 'fact' }, el('dt', {}, name), el('dd', {}, value));
}

/** @param {() => void} changed */
function actingForm(changed) {
  const now = acting();
  const inputs = {
    as: field('Act as', 'acting-as', now.as ?? ''),
    roles: field('With roles', 'acting-roles', now.roles ?? ''),
    tenant: field('Of tenant', 'acting-tenant', now.tenant ?? ''),
  };
  const form = el(
    'form',
    { class: 'acting' },
    el('p', { class: 'help' }, 'Local development: try out what several people have to do.'),
    ...Object.values(inputs).map(({ element }) => element),
    el('button', { type: 'submit', class: 'button' }, 'Use'),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    actAs({
      as: inputs.as.input.value.trim(),
      roles: inputs.roles.input.value.trim(),
      tenant: inputs.tenant.input.value.trim(),
    });
    changed();
  });
  return form;
}

/**
 * @param {string} label
 * @param {string} id
 * @param {string} value
 */
function field(label, id, value) {
  // What a header can hold.
  const input = el('input', {
    id,
    type: 'text',
    autocomplete: 'off',
    pattern: '[\\x20-\\x7e]*',
    value,
  });
  return {
    input,
    element: el('div', { class: 'form-field' }, el('label', { for: id }, label), input),
  };
}

function logOut() {
  forgetToken();
  location.assign('/');
}
