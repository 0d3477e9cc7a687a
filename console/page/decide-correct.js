/**
 * Correcting an action: other arguments for its tool, by a form made from the tool's schema or as JSON, or
 * another tool. What comes out is checked and asked about anew; nothing of it is decided here.
 */
import { button, el, fill } from './dom.js';
import { changesBetween, isSame } from './changes.js';
import { inertLine, inertText } from './inert.js';
import { isBlob, readPiece } from './json-view.js';
import { schemaForm } from './schema-form.js';

/** @typedef {import('./data/api-types.ts').Ask} Ask */
/** @typedef {import('./data/api-types.ts').Grounds} Grounds */
/** @typedef {import('./data/api-types.ts').Json} Json */
/** @typedef {import('./data/api-types.ts').Schema} Schema */
/** @typedef {import('./decide.js').Desk} Desk */
/** @typedef {import('./schema-form.js').Field} Field */

/** With longer texts the request would be larger than the desk takes. */
const TEXT_CHARS_MAX = 40_000;

/**
 * @param {Ask} ask
 * @param {Desk} desk
 * @param {Grounds} grounds
 */
export function correctionForm(ask, desk, grounds) {
  const place = el('div', {}, el('p', { class: 'help' }, 'Fetching the arguments …'));
  const back = button('Back', { press: () => desk.open(undefined) });
  restored(/** @type {Json} */ (ask.args ?? {}), ask.runId).then(
    (args) => {
      fill(place, editor({ ask, args, desk, grounds }));
      const first = place.querySelector('input, textarea');
      if (first instanceof HTMLElement) first.focus();
    },
    () => fill(place, el('p', {}, 'These arguments are too long to be corrected here.'), back),
  );
  return place;
}

/**
 * The arguments with their long texts put back in: a reference is no argument.
 * @param {Json} value
 * @param {string} runId
 * @returns {Promise<Json>}
 */
async function restored(value, runId) {
  if (isBlob(value)) {
    const { text, chars } = await readPiece(runId, value.$blob, TEXT_CHARS_MAX);
    if (chars > text.length) throw new Error('too long');
    return text;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Promise.all(value.map((part) => restored(part, runId)));
  const entries = Object.entries(value).map(
    async ([name, part]) => /** @type {[string, Json]} */ ([name, await restored(part, runId)]),
  );
  return Object.fromEntries(await Promise.all(entries));
}

/** @typedef {{ ask: Ask, args: Json, desk: Desk, grounds: Grounds }} Editing */

/** @param {Editing} editing */
function editor({ ask, args, desk, grounds }) {
  const tool = toolChoice(ask, grounds);
  const fields = el('div');
  const asJson = el('input', { type: 'checkbox', id: 'as-json' });
  const preview = el('div', { class: 'preview', 'aria-live': 'polite' });
  /** @type {Field} */
  let field = schemaForm(tool.schema(), args);
  /** @param {Json} value */
  const redraw = (value) => {
    field = asJson.checked ? jsonField(value) : schemaForm(tool.schema(), value);
    fill(fields, field.element);
    showChanges();
  };
  const showChanges = () => {
    const read = field.read();
    fill(preview, read.ok && tool.isSame() && changesText(args, read.value));
  };
  asJson.addEventListener('change', () => {
    const read = field.read();
    redraw(read.ok && read.value !== undefined ? read.value : args);
  });
  tool.select.addEventListener('change', () => redraw(tool.isSame() ? args : {}));
  fields.addEventListener('input', showChanges);
  redraw(args);
  const reason = reasonInput();
  const submit = () => {
    const read = field.read();
    if (!read.ok) {
      read.input.focus();
      return desk.complain(read.fault);
    }
    if (tool.isSame() && isSame(read.value, args)) return desk.complain('Nothing is changed.');
    const text = reason.value.trim();
    const said = { args: read.value ?? {}, ...(text !== '' && { reason: text }) };
    return void desk.decide(
      tool.isSame()
        ? { decision: 'modify', ...said }
        : { decision: 'replace', tool: tool.select.value, ...said },
    );
  };
  const asJsonLabel = el('label', { class: 'inline', for: 'as-json' }, asJson, ' Edit as JSON');
  return formOf(submit, desk, [
    tool.element,
    fields,
    asJsonLabel,
    preview,
    ...labelledReason(reason),
  ]);
}

function reasonInput() {
  const limits = { maxlength: 2_000, autocomplete: 'off' };
  return el('input', { id: 'correct-reason', type: 'text', ...limits });
}

/** @param {HTMLElement} input */
function labelledReason(input) {
  return [el('label', { for: input.id }, 'Reason (optional)'), input];
}

const MEANING =
  'The corrected action is checked anew, and counts as approved by you alone: earlier votes do not count for it. Where several people must agree, the others are asked about it.';

/**
 * @param {() => void} submit
 * @param {Desk} desk
 * @param {readonly HTMLElement[]} parts
 */
function formOf(submit, desk, parts) {
  const onsubmit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    submit();
  };
  return el(
    'form',
    { class: 'correct', 'aria-label': 'Correct', onsubmit },
    el('p', { class: 'help' }, MEANING),
    ...parts,
    el(
      'div',
      { class: 'choices' },
      el('button', { type: 'submit', class: 'button primary' }, 'Send the correction'),
      button('Back', { press: () => desk.open(undefined) }),
    ),
  );
}

/**
 * @param {Ask} ask
 * @param {Grounds} grounds
 */
function toolChoice(ask, { tool, otherTools }) {
  const own = ask.tool ?? '';
  const select = el(
    'select',
    { id: 'correct-tool' },
    el('option', { value: own }, inertText(own)),
    ...otherTools.map(({ name }) => el('option', { value: name }, inertText(name))),
  );
  const chosen = () =>
    select.value === own ? tool : otherTools.find(({ name }) => name === select.value);
  return {
    select,
    isSame: () => select.value === own,
    schema: () => /** @type {Schema | undefined} */ (chosen()?.inputSchema),
    element: el(
      'div',
      { class: 'form-field', hidden: otherTools.length === 0 },
      el('label', { for: 'correct-tool' }, 'Tool'),
      select,
    ),
  };
}

/**
 * @param {Json} value
 * @returns {Field}
 */
function jsonField(value) {
  const input = el('textarea', {
    rows: 10,
    spellcheck: 'false',
    class: 'code',
    'aria-label': 'Arguments as JSON',
  });
  input.value = JSON.stringify(value, null, 2);
  return {
    element: input,
    read() {
      try {
        return { ok: true, value: JSON.parse(input.value) };
      } catch {
        return { ok: false, fault: 'That is no JSON.', input };
      }
    },
  };
}

/**
 * @param {Json} before
 * @param {Json | undefined} after
 */
function changesText(before, after) {
  const changes = changesBetween(before, after);
  if (changes.length === 0) return null;
  const shown = (/** @type {Json | undefined} */ value) =>
    value === undefined
      ? 'nothing'
      : inertLine(typeof value === 'string' ? value : JSON.stringify(value), 100);
  return el(
    'ul',
    { class: 'change-list', 'aria-label': 'What changes' },
    ...changes.map(({ path, before: was, after: is }) =>
      el(
        'li',
        {},
        el('b', {}, inertLine(path, 80)),
        ' ',
        el('del', {}, shown(was)),
        ' → ',
        el('ins', {}, shown(is)),
      ),
    ),
  );
}
