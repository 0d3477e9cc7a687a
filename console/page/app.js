/** The page: who is logged in, which view the address names, and moving between views without loading anew. */
import { get, onLoggedOut, pathOf } from './api.js';
import { byId, el, fill } from './dom.js';
import { watchFreezes } from './freezes.js';
import { inboxView } from './inbox.js';
import { loginView } from './login.js';
import { showPerson } from './person-menu.js';
import { runView } from './run.js';
import { runsView } from './runs.js';
import { hasToken, takeToken } from './session.js';

/** @typedef {import('./api-types.js').Person} Person */
/**
 * @typedef {object} View
 * @property {string} name Two addresses of one name are one view, which is only told of the new one.
 * @property {HTMLElement} element
 * @property {(place: Place) => void} show
 */
/** @typedef {{ readonly id?: string }} Place */
/**
 * What a view works with.
 * @typedef {object} Page
 * @property {Person} me
 * @property {AbortSignal} signal Ends with the view.
 * @property {(path: string) => void} go
 */

/** @type {readonly { readonly path: RegExp, readonly name: string, readonly nav: string, readonly make: (page: Page) => View }[]} */
const ROUTES = [
  { path: /^\/(?:index\.html)?$/, name: 'inbox', nav: 'inbox', make: inboxView },
  {
    path: /^\/(?:inbox|approvals|questions)\/(?<id>[^/]+)$/,
    name: 'inbox',
    nav: 'inbox',
    make: inboxView,
  },
  { path: /^\/runs$/, name: 'runs', nav: 'runs', make: runsView },
  { path: /^\/runs\/(?<id>[^/]+)$/, name: 'run', nav: 'runs', make: runView },
];

const main = byId('main');
/** @type {{ view: View, leaving: AbortController } | undefined} */
let current;
/** @type {Person | undefined} */
let me;
/** Ends what is watched for whoever is logged in. @type {AbortController | undefined} */
let login;

/** @param {string} path */
function go(path) {
  if (path !== location.pathname) history.pushState(null, '', path);
  showAddress();
}

function showAddress() {
  if (me === undefined) return;
  for (const { path, name, nav, make } of ROUTES) {
    const match = path.exec(location.pathname);
    if (match === null) continue;
    markNavigation(nav);
    const id = idIn(match.groups?.['id']);
    const view = viewOf(name, make, me);
    view.show(id === undefined ? {} : { id });
    return;
  }
  leave();
  fill(
    main,
    el(
      'div',
      { class: 'empty' },
      el('h1', {}, 'There is no such page'),
      el('a', { href: '/' }, 'Inbox'),
    ),
  );
}

/** @param {string | undefined} encoded */
function idIn(encoded) {
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/**
 * @param {string} name
 * @param {(page: Page) => View} make
 * @param {Person} person
 */
function viewOf(name, make, person) {
  // Each run is a view of its own.
  if (current?.view.name === name && name !== 'run') return current.view;
  leave();
  const leaving = new AbortController();
  const view = make({ me: person, signal: leaving.signal, go });
  current = { view, leaving };
  fill(main, view.element);
  main.focus({ preventScroll: true });
  window.scrollTo(0, 0);
  return view;
}

function leave() {
  current?.leaving.abort();
  current = undefined;
}

/** @param {string} nav */
function markNavigation(nav) {
  for (const link of document.querySelectorAll('nav a[data-view]')) {
    const isHere = link.getAttribute('data-view') === nav;
    if (isHere) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

function logIn() {
  leave();
  login?.abort();
  me = undefined;
  fill(byId('person'));
  fill(
    main,
    loginView(() => void begin()),
  );
  main.querySelector('input')?.focus();
}

async function begin() {
  if (!hasToken()) return logIn();
  try {
    me = await /** @type {Promise<Person>} */ (get(pathOf('me')));
  } catch (error) {
    const { status = 0, message } = /** @type {{ status?: number, message: string }} */ (error);
    if (status === 401) return undefined;
    if (status === 403)
      fill(main, el('div', { class: 'empty' }, el('h1', {}, 'No access'), el('p', {}, message)));
    else setTimeout(() => void begin(), 2_000);
    return undefined;
  }
  login?.abort();
  login = new AbortController();
  watchFreezes(byId('freezes'), login.signal);
  showPerson(byId('person'), me, () => {
    leave();
    void begin();
  });
  return showAddress();
}

document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest('a[href^="/"]') : null;
  if (link === null || link.hasAttribute('target')) return;
  event.preventDefault();
  go(new URL(link.getAttribute('href') ?? '/', location.origin).pathname);
});
window.addEventListener('popstate', showAddress);
// A link with another token, opened in this tab.
window.addEventListener('hashchange', () => {
  takeToken();
  void begin();
});
onLoggedOut(logIn);
takeToken();
void begin();
