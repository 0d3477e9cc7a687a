/**
 * Which later calls a standing grant covers: one row for each argument, from "exactly as here" to "anything".
 * Invariant: without a word of the person a row is as narrow as the run can compare it.
 */
import { el } from './dom.js';
import { highlightsOf } from './highlights.js';
import { inertLine, inertText } from './inert.js';
import { oneLine } from './json-view.js';

/** @typedef {import('./data/api-types.ts').GrantCondition} Condition */
/** @typedef {import('./data/api-types.ts').Json} Json */
/** @typedef {import('./data/api-types.ts').Schema} Schema */
/** @typedef {'exactly' | 'at most' | 'not given' | 'anything'} Width */
/** @typedef {{ ok: true, condition: Condition | undefined } | { ok: false, fault: string, input?: HTMLElement | undefined }} Read */
/** @typedef {{ readonly name: string, readonly value: Json | undefined, readonly element: HTMLElement, read(): Read }} Row */

/** What the run can compare (core/parse-grant.ts). */
const NAME_CHARS_MAX = 128;
const EQUALS_CHARS_MAX = 1_024;
export const CONDITIONS_MAX = 20;

/**
 * Of the arguments that are given, and of those that the schema knows besides.
 * @param {Json | undefined} args
 * @param {Schema | undefined} schema
 * @returns {Row[]}
 */
export function grantRows(args, schema) {
  const given = typeof args === 'object' && args !== null && !Array.isArray(args) ? args : {};
  const others = Object.keys(schema?.properties ?? {}).filter(
    (name) => !Object.hasOwn(given, name),
  );
  return [
    ...Object.entries(given).map(([name, value], place) => rowOf(name, value, place)),
    ...others.map((name, place) => rowOf(name, undefined, Object.keys(given).length + place)),
  ];
}

/** What a schema can say of an object without bringing in another argument; a word not here may. */
const HARMLESS = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  '$defs',
]);

/**
 * Whether `properties` are all the arguments that a call can have. Without `additionalProperties` it is a plain
 * `z.object`: that drops what it does not name before anybody is asked (authoring/input-schema.ts), and no call
 * starts with arguments that its schema would change (activities/tool-call.ts).
 * @param {Schema | undefined} schema
 */
export function listsAllArguments(schema) {
  if (schema?.type !== 'object' || schema.properties === undefined) return false;
  const isClosed =
    schema.additionalProperties === undefined || schema.additionalProperties === false;
  return isClosed && Object.keys(schema).every((word) => HARMLESS.has(word));
}

/**
 * @param {string} name
 * @param {Json | undefined} value Undefined: the argument is not given.
 * @param {number} place
 * @returns {Row}
 */
function rowOf(name, value, place) {
  const id = `grant-${place}`;
  const widths = widthsOf(name, value);
  const width = el('select', { id }, ...widths.map((one) => el('option', { value: one }, one)));
  const most = widths.includes('at most') ? mostInput(name, value) : undefined;
  const shown = el('span', { class: 'grant-value' }, valueShown(value, widths));
  const draw = () => {
    if (most !== undefined) most.hidden = width.value !== 'at most';
    shown.hidden = width.value === 'at most' || (width.value === 'anything' && widths.length > 1);
  };
  width.addEventListener('change', () => {
    draw();
    if (most?.hidden === false) most.select();
  });
  draw();
  return {
    name,
    value,
    element: el(
      'div',
      { class: 'grant-row' },
      el('label', { for: id }, inertLine(name, 80)),
      width,
      el('div', {}, shown, most),
    ),
    read: () => read({ name, value, width: /** @type {Width} */ (width.value), most }),
  };
}

/**
 * @param {string} name
 * @param {Json | undefined} value
 */
function mostInput(name, value) {
  return el('input', {
    type: 'text',
    inputmode: 'decimal',
    autocomplete: 'off',
    class: 'number',
    'aria-label': `${inertText(name, 60)} at most`,
    value: typeof value === 'number' ? value : '',
  });
}

/**
 * @param {string} name
 * @param {Json | undefined} value
 * @returns {Width[]}
 */
function widthsOf(name, value) {
  if (name === '' || name.includes('.') || name.length > NAME_CHARS_MAX) return ['anything'];
  if (value === undefined) return ['not given', 'anything'];
  if (JSON.stringify(value).length > EQUALS_CHARS_MAX) return ['anything'];
  return typeof value === 'number' ? ['exactly', 'at most', 'anything'] : ['exactly', 'anything'];
}

/**
 * @param {Json | undefined} value
 * @param {readonly Width[]} widths
 */
function valueShown(value, widths) {
  if (widths.length === 1) return 'cannot be compared: its name or its value is too long';
  if (value === undefined) return '';
  return inertLine(typeof value === 'string' ? value : oneLine(value), 120);
}

/**
 * @param {{ name: string, value: Json | undefined, width: Width, most: HTMLInputElement | undefined }} row
 * @returns {Read}
 */
function read({ name: path, value, width, most }) {
  switch (width) {
    case 'exactly':
      return { ok: true, condition: { path, equals: value } };
    case 'not given':
      return { ok: true, condition: { path, exists: false } };
    case 'at most': {
      const text = most?.value.trim() ?? '';
      const lte = Number(text);
      if (text !== '' && Number.isFinite(lte)) return { ok: true, condition: { path, lte } };
      return {
        ok: false,
        fault: `${inertText(path, 60)}: at most how much? A number.`,
        input: most,
      };
    }
    default:
      return { ok: true, condition: undefined };
  }
}

/**
 * What nobody would bound: amounts and recipients among the arguments that may be anything.
 * @param {readonly Row[]} rows
 * @returns {string[]}
 */
export function unboundOf(rows) {
  return rows
    .filter((row) => {
      const { amounts, recipients } = highlightsOf({ [row.name]: row.value ?? 0 });
      const said = row.read();
      return said.ok && said.condition === undefined && amounts.length + recipients.length > 0;
    })
    .map(({ name }) => name);
}
