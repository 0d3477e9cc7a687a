/**
 * A form made from the JSON Schema of a tool's arguments, filled with the present ones. What the schema says in
 * a way that no field fits is edited as JSON. Whether the arguments fit is decided by the run, not here.
 */
import { el } from './dom.js';
import { isBlob } from './json-view.js';

/** @typedef {import('./data/api-types.ts').Schema} Schema */
/** @typedef {import('./data/api-types.ts').Json} Json */
/** @typedef {{ ok: true, value: Json | undefined } | { ok: false, fault: string, input: HTMLElement }} Read */
/** @typedef {{ element: HTMLElement, read: () => Read }} Field */
/** @typedef {{ name: string, schema: Schema, value: Json | undefined, isNeeded: boolean, depth: number }} Wanted */

const DEPTH_MAX = 4;
const LONG_TEXT = 80;
let nextId = 1;

/**
 * @param {Schema | undefined} schema Undefined: as the value itself is.
 * @param {Json | undefined} value
 * @returns {Field}
 */
export function schemaForm(schema, value) {
  const known = schema?.properties === undefined ? schemaOf(value ?? {}) : schema;
  const shape = { ...known, type: 'object' };
  return objectField({ name: '', schema: shape, value, isNeeded: true, depth: 0 });
}

/**
 * A schema that this value fits.
 * @param {Json} value
 * @returns {Schema}
 */
function schemaOf(value) {
  if (typeof value === 'string') return { type: 'string' };
  if (typeof value === 'number') return { type: 'number' };
  if (typeof value === 'boolean') return { type: 'boolean' };
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isBlob(value))
    return {};
  const properties = Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, schemaOf(part)]),
  );
  return { type: 'object', properties, required: Object.keys(value) };
}

/**
 * @param {Wanted} wanted
 * @returns {Field}
 */
function fieldFor(wanted) {
  const { schema, value, depth } = wanted;
  if (schema.enum !== undefined) return choiceField(wanted);
  const fits = (/** @type {string} */ type) => value === undefined || typeof value === type;
  if (schema.type === 'string' && fits('string')) return textField(wanted);
  if ((schema.type === 'number' || schema.type === 'integer') && fits('number')) {
    return numberField(wanted);
  }
  if (schema.type === 'boolean' && fits('boolean')) return flagField(wanted);
  const isShape = schema.type === 'object' && schema.properties !== undefined;
  if (isShape && depth < DEPTH_MAX && isPlainObject(value ?? {})) return objectField(wanted);
  return jsonField(wanted);
}

/** @param {Json} value */
function isPlainObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isBlob(value);
}

/**
 * @param {Wanted} wanted
 * @returns {Field}
 */
function objectField({ name, schema, value, isNeeded, depth }) {
  const present = /** @type {{ [key: string]: Json }} */ (
    isPlainObject(value ?? {}) ? (value ?? {}) : {}
  );
  const { properties = {}, required = [] } = schema;
  const names = [...new Set([...Object.keys(properties), ...Object.keys(present)])];
  const fields = names.map((inner) => {
    const own = Object.hasOwn(present, inner) ? present[inner] : undefined;
    const inside = Object.hasOwn(properties, inner) ? properties[inner] : undefined;
    return {
      inner,
      field: fieldFor({
        name: inner,
        schema: inside ?? schemaOf(own ?? null),
        value: own,
        isNeeded: required.includes(inner),
        depth: depth + 1,
      }),
    };
  });
  const elements = fields.map(({ field }) => field.element);
  const element =
    name === ''
      ? el('div', { class: 'form-fields' }, ...elements)
      : el('fieldset', {}, el('legend', {}, name), ...elements);
  return {
    element,
    read() {
      /** @type {[string, Json][]} */
      const entries = [];
      for (const { inner, field } of fields) {
        const read = field.read();
        if (!read.ok) return read;
        if (read.value !== undefined) entries.push([inner, read.value]);
      }
      const isAbsent = entries.length === 0 && !isNeeded && value === undefined;
      return { ok: true, value: isAbsent ? undefined : Object.fromEntries(entries) };
    },
  };
}

/**
 * A label with its input.
 * @param {Wanted} wanted
 * @param {HTMLElement} input
 */
function labelled({ name, schema, isNeeded }, input) {
  const id = `field-${nextId++}`;
  input.id = id;
  input.setAttribute('name', name);
  const help = schema.description;
  if (help !== undefined) input.setAttribute('aria-describedby', `${id}-help`);
  return el(
    'div',
    { class: 'form-field' },
    el('label', { for: id }, name, !isNeeded && el('span', { class: 'optional' }, ' (optional)')),
    input,
    help !== undefined && el('p', { id: `${id}-help`, class: 'help' }, help),
  );
}

/**
 * @param {Wanted} wanted
 * @returns {Field}
 */
function textField(wanted) {
  const { schema, value, isNeeded } = wanted;
  const given = typeof value === 'string' ? value : '';
  const isLong = given.length > LONG_TEXT || given.includes('\n') || (schema.maxLength ?? 0) > 400;
  const input = isLong
    ? el('textarea', { rows: 4, spellcheck: 'false' })
    : el('input', { type: 'text', autocomplete: 'off', spellcheck: 'false' });
  input.value = given;
  // A field has no line breaks of other kinds and no hidden ends: unless somebody types, the value stays.
  let isTouched = false;
  input.addEventListener('input', () => (isTouched = true));
  return {
    element: labelled(wanted, input),
    read() {
      const text = isTouched ? input.value : given;
      const isAbsent = text === '' && !isNeeded && value === undefined;
      return { ok: true, value: isAbsent ? undefined : text };
    },
  };
}

/**
 * @param {Wanted} wanted
 * @returns {Field}
 */
function numberField(wanted) {
  const { schema, value, isNeeded, name } = wanted;
  const isWhole = schema.type === 'integer';
  const input = el('input', {
    type: 'text',
    inputmode: isWhole ? 'numeric' : 'decimal',
    autocomplete: 'off',
    class: 'number',
  });
  input.value = typeof value === 'number' ? String(value) : '';
  return {
    element: labelled(wanted, input),
    read() {
      const text = input.value.trim();
      if (text === '' && !isNeeded) return { ok: true, value: undefined };
      const pattern = isWhole ? /^-?\d{1,16}$/ : /^-?\d{1,16}(\.\d{1,16})?$/;
      if (pattern.test(text) && (!isWhole || Number.isSafeInteger(Number(text)))) {
        return { ok: true, value: Number(text) };
      }
      return { ok: false, fault: `${name} must be a ${isWhole ? 'whole ' : ''}number.`, input };
    },
  };
}

/**
 * @param {Wanted} wanted
 * @returns {Field}
 */
function flagField(wanted) {
  const input = el('input', { type: 'checkbox' });
  input.checked = wanted.value === true;
  let isTouched = wanted.isNeeded || wanted.value !== undefined;
  input.addEventListener('change', () => (isTouched = true));
  return {
    element: labelled(wanted, input),
    read: () => ({ ok: true, value: isTouched ? input.checked : undefined }),
  };
}

/**
 * @param {Wanted} wanted
 * @returns {Field}
 */
function choiceField(wanted) {
  const { schema, value, isNeeded } = wanted;
  const choices = [...(isNeeded ? [] : [undefined]), ...(schema.enum ?? [])];
  const input = el(
    'select',
    {},
    ...choices.map((choice, place) => el('option', { value: place }, choiceName(choice))),
  );
  input.value = String(Math.max(0, choices.indexOf(value)));
  return {
    element: labelled(wanted, input),
    read: () => ({ ok: true, value: choices[Number(input.value)] }),
  };
}

/** @param {Json | undefined} choice */
function choiceName(choice) {
  if (choice === undefined) return 'not given';
  return typeof choice === 'string' ? choice : JSON.stringify(choice);
}

/**
 * @param {Wanted} wanted
 * @returns {Field}
 */
function jsonField(wanted) {
  const { value, isNeeded, name } = wanted;
  const input = el('textarea', { rows: 4, spellcheck: 'false', class: 'code' });
  input.value = value === undefined ? '' : JSON.stringify(value, null, 2);
  return {
    element: labelled(wanted, input),
    read() {
      if (input.value.trim() === '' && !isNeeded) return { ok: true, value: undefined };
      try {
        return { ok: true, value: /** @type {Json} */ (JSON.parse(input.value)) };
      } catch {
        return { ok: false, fault: `${name} must be JSON.`, input };
      }
    },
  };
}
