/**
 * Building elements. Invariant: text becomes text nodes and attributes are set by name, so nothing that comes
 * from outside is ever read as HTML; no other file makes elements in another way.
 */

import { announce as say } from './data/announced.ts';

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {{ [name: string]: string | number | boolean | undefined | ((event: any) => void) }} Properties */

/** Attributes that lead somewhere: only to this page, or to addresses of the web. */
const ADDRESSES = new Set(['href', 'src', 'action']);

/**
 * `on…` are listeners; `true` sets an attribute without a value, `false` and `undefined` leave it out.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Properties} [properties]
 * @param {...(Child | readonly Child[])} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) set(element, name, value);
  append(element, children);
  return element;
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {Properties[string]} value
 */
function set(element, name, value) {
  if (value === undefined || value === false) return;
  if (typeof value === 'function') {
    element.addEventListener(name.slice(2), value);
    return;
  }
  if (ADDRESSES.has(name) && !/^(\/(?!\/)|#|https?:\/\/)/.test(String(value))) return;
  element.setAttribute(name, value === true ? '' : String(value));
}

/**
 * @param {Node} parent
 * @param {readonly (Child | readonly Child[])[]} children
 */
function append(parent, children) {
  for (const child of /** @type {Child[]} */ (children.flat())) {
    if (child === null || child === undefined || child === false) continue;
    parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/**
 * @param {Element} element
 * @param {...(Child | readonly Child[])} children
 */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/**
 * An element of the page itself.
 * @param {string} id
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}

/**
 * Said by screen readers, once.
 * @param {string} text
 */
export function announce(text) {
  say(text);
}

/**
 * A button that cannot be pressed again while what it did is under way.
 * @param {string} label
 * @param {{ kind?: 'primary' | 'danger' | 'quiet', press: () => Promise<void> | void, title?: string }} options
 */
export function button(label, { kind = 'quiet', press, title }) {
  const made = el('button', { type: 'button', class: `button ${kind}`, title }, label);
  const work = async () => {
    if (made.getAttribute('aria-busy') === 'true') return;
    made.setAttribute('aria-busy', 'true');
    try {
      await press();
    } finally {
      made.removeAttribute('aria-busy');
    }
  };
  made.addEventListener('click', () => void work());
  return made;
}

/**
 * A name with its value, as a row of a `dl`.
 * @param {string} name
 * @param {...(Child | readonly Child[])} value
 */
export function fact(name, ...value) {
  return el('div', { class: 'fact' }, el('dt', {}, name), el('dd', {}, ...value));
}
