/** What the fields of a form say, with what somebody has changed in them. Pure. */
import { decimalOf, isSameDecimal } from '../../../pure/decimal.js';
import type { Json } from '../data/api-types.js';
import { inertText } from '../parts/inert-text.js';
import type { Field } from './schema-fields.js';

/** What somebody has changed, by the ids of fields: the text of a field, or whether it is ticked. */
export type Drafts = { readonly [fieldId: string]: string | boolean };

export type Read =
  /** Undefined: not given. */
  | { readonly ok: true; readonly value: Json | undefined }
  | { readonly ok: false; readonly fault: string; readonly fieldId: string };

const WHOLE = /^-?\d{1,16}$/;
const DECIMAL = /^-?\d{1,16}(\.\d{1,16})?$/;

export function readField(field: Field, drafts: Drafts): Read {
  switch (field.kind) {
    case 'object':
      return readObject(field, drafts);
    case 'flag': {
      const isSaid = field.isNeeded || !field.isAbsent || drafts[field.id] !== undefined;
      return given(isSaid ? isTicked(field, drafts) : undefined);
    }
    case 'choice':
      return given(field.choices[Number(textOf(field, drafts))]);
    case 'list': {
      const { choices, isNeeded, isAbsent } = field;
      const said = choices.flatMap(({ value }, place) =>
        isListed(field, place, drafts) ? [value] : [],
      );
      return given(said.length === 0 && !isNeeded && isAbsent ? undefined : said);
    }
    case 'text': {
      // A field has no line breaks of other kinds and no hidden ends: unless somebody types, the value stays.
      const text = textOf(field, drafts);
      return given(text === '' && !field.isNeeded && field.isAbsent ? undefined : text);
    }
    case 'number':
      return readNumber(field, textOf(field, drafts).trim());
    case 'json':
      return readJson(field, textOf(field, drafts));
  }
}

type Kind<Name extends Field['kind']> = Extract<Field, { readonly kind: Name }>;

/** As it stands in the field. */
export function textOf(
  field: Exclude<Field, Kind<'object' | 'flag' | 'list'>>,
  drafts: Drafts,
): string {
  const draft = drafts[field.id];
  return typeof draft === 'string' ? draft : String(field.given);
}

export function isTicked(field: Kind<'flag'>, drafts: Drafts): boolean {
  const draft = drafts[field.id];
  return typeof draft === 'boolean' ? draft : field.given;
}

/** Of a list: the place of one of its choices. */
export function isListed(field: Kind<'list'>, place: number, drafts: Drafts): boolean {
  const draft = drafts[choiceId(field, place)];
  return typeof draft === 'boolean' ? draft : field.given.includes(place);
}

export function choiceId({ id }: Kind<'list'>, place: number): string {
  return `${id}-${place}`;
}

function given(value: Json | undefined): Read {
  return { ok: true, value };
}

function readObject({ fields, isNeeded, isAbsent }: Kind<'object'>, drafts: Drafts): Read {
  const entries: [string, Json][] = [];
  for (const field of fields) {
    const read = readField(field, drafts);
    if (!read.ok) return read;
    if (read.value !== undefined) entries.push([field.name, read.value]);
  }
  const isNothing = entries.length === 0 && !isNeeded && isAbsent;
  return given(isNothing ? undefined : Object.fromEntries(entries));
}

function readNumber({ id, name, isNeeded, isWhole }: Kind<'number'>, text: string): Read {
  if (text === '' && !isNeeded) return given(undefined);
  const isNumber = (isWhole ? WHOLE : DECIMAL).test(text);
  if (isNumber && keepsDigits(text, isWhole)) return given(Number(text));
  const isLong = (isWhole ? /^-?\d+$/ : /^-?\d+(\.\d+)?$/).test(text);
  const kind = isWhole ? 'whole number, in digits' : 'number';
  const why = isLong ? 'has more digits than can be sent exactly' : `must be a ${kind}`;
  return { ok: false, fault: `${inertText(name)} ${why}.`, fieldId: id };
}

/** What is sent is what was written: no digit is rounded away. */
function keepsDigits(text: string, isWhole: boolean): boolean {
  const [written, sent] = [decimalOf(text), decimalOf(Number(text))];
  if (isWhole && !Number.isSafeInteger(Number(text))) return false;
  return written !== undefined && sent !== undefined && isSameDecimal(written, sent);
}

function readJson({ id, name, isNeeded }: Kind<'json'>, text: string): Read {
  if (text.trim() === '' && !isNeeded) return given(undefined);
  try {
    return given(JSON.parse(text) as Json);
  } catch {
    return { ok: false, fault: `${inertText(name)} must be JSON.`, fieldId: id };
  }
}
