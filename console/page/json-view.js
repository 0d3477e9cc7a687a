/** Values as people read them: names and texts, each inert, and beside them the exact JSON. */
import { get, pathOf } from './data/api.ts';
import { el } from './dom.js';
import { inertBlock, inertLine } from './inert.js';

/** @typedef {import('./data/api-types.ts').Json} Json */
/** @typedef {import('./data/api-types.ts').Excerpt} Excerpt */
/** @typedef {import('./data/api-types.ts').TextPiece} TextPiece */

const DEPTH_SHOWN = 5;
const ENTRIES_SHOWN = 60;
/** One piece of a large text at a time. */
const PIECE_CHARS = 200_000;
const PREVIEW_CHARS = 2_000;

/**
 * A large text that only its hash stands for.
 * @param {unknown} value
 * @returns {value is { $blob: string, bytes: number }}
 */
export function isBlob(value) {
  return typeof value === 'object' && value !== null && '$blob' in value && 'bytes' in value;
}

/**
 * @param {unknown} value
 * @param {string} runId Whose texts the value may name.
 * @param {number} [depth]
 * @returns {HTMLElement}
 */
export function readable(value, runId, depth = 0) {
  if (isBlob(value)) return blobText({ text: '', blob: value.$blob, bytes: value.bytes }, runId);
  if (typeof value === 'string') return textValue(value);
  if (typeof value !== 'object' || value === null) {
    return el('span', { class: 'value plain' }, JSON.stringify(value) ?? 'nothing');
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return el('span', { class: 'value none' }, emptyName(value));
  if (depth >= DEPTH_SHOWN) return inertBlock(JSON.stringify(value), { charsMax: 500 });
  const shown = entries.slice(0, ENTRIES_SHOWN);
  return el(
    'dl',
    { class: Array.isArray(value) ? 'fields list' : 'fields' },
    ...shown.map(([name, part]) =>
      el(
        'div',
        { class: 'field' },
        el('dt', {}, Array.isArray(value) ? Number(name) + 1 : inertLine(name)),
        el('dd', {}, readable(part, runId, depth + 1)),
      ),
    ),
    entries.length > shown.length &&
      el(
        'p',
        { class: 'cut' },
        `${entries.length - shown.length} more entries: see the exact JSON.`,
      ),
  );
}

/** @param {object} value */
function emptyName(value) {
  return Array.isArray(value) ? 'an empty list' : 'an empty object';
}

/** @param {string} text */
function textValue(text) {
  if (text === '') return el('span', { class: 'value none' }, 'an empty text');
  return el('span', { class: 'value' }, inertBlock(text));
}

/**
 * A text whose rest is in the store; it is asked for when somebody wants it, its beginning at once.
 * @param {Excerpt} excerpt
 * @param {string} runId
 */
export function blobText({ text, blob, bytes = 0 }, runId) {
  const place = el('span', { class: 'value' });
  if (blob === undefined) {
    place.append(inertBlock(text));
    return place;
  }
  const piece = (/** @type {number} */ chars) => readPiece(runId, blob, chars);
  const show = (/** @type {string} */ beginning, /** @type {number} */ chars) => {
    const more = async () => (await piece(PIECE_CHARS)).text;
    place.replaceChildren(inertBlock(beginning, { charsInAll: chars, more }));
  };
  show(text, Math.max(bytes, text.length));
  if (text === '') {
    place.textContent = 'A long text is being fetched …';
    piece(PREVIEW_CHARS).then(
      (found) => show(found.text, found.chars),
      () => (place.textContent = `A text of ${bytes} bytes that cannot be fetched now.`),
    );
  }
  return place;
}

/**
 * What a tool returned: by its fields, where it is a JSON object or list.
 * @param {Excerpt} excerpt
 * @param {string} runId
 * @param {boolean} [hasFailed]
 */
export function resultText(excerpt, runId, hasFailed = false) {
  const value = excerpt.blob === undefined ? objectIn(excerpt.text) : undefined;
  if (value !== undefined && !hasFailed) return readable(value, runId);
  return el('div', { class: hasFailed ? 'result failed' : 'result' }, blobText(excerpt, runId));
}

/**
 * @param {string} text
 * @returns {object | undefined}
 */
function objectIn(text) {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * @param {string} runId
 * @param {string} hash
 * @param {number} chars
 * @returns {Promise<TextPiece>}
 */
export function readPiece(runId, hash, chars) {
  return get(`${pathOf('runs', runId, 'texts', hash)}?chars=${chars}`);
}

/**
 * A line that unfolds into the whole, which is drawn when somebody wants it.
 * @param {string} text
 * @param {() => HTMLElement} draw
 */
export function folded(text, draw) {
  const box = el('details', { class: 'folded' }, el('summary', {}, inertLine(text, 160)));
  box.addEventListener('toggle', () => box.append(draw()), { once: true });
  return box;
}

/**
 * Names and values on one line.
 * @param {unknown} value
 */
export function oneLine(value) {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  if (Array.isArray(value) || isBlob(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, part]) => `${name}: ${typeof part === 'string' ? part : JSON.stringify(part)}`)
    .join(', ');
}

/**
 * Exact JSON, folded away.
 * @param {string} title
 * @param {unknown} value
 */
export function exact(title, value) {
  const box = el('details', { class: 'exact' }, el('summary', {}, title));
  // What nobody opens is not drawn.
  box.addEventListener(
    'toggle',
    () => {
      const text = JSON.stringify(value, null, 2) ?? 'null';
      box.append(el('pre', { tabindex: 0 }, inertBlock(text, { charsMax: 20_000, linesMax: 400 })));
    },
    { once: true },
  );
  return box;
}
