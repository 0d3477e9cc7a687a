/**
 * Values of secret headers, in what a service gives back. Pure.
 * Invariant: values below 8 characters are not looked for: they stand anywhere by chance.
 */
import type { Json } from '../../core/json/json.js';
import { writtenForms } from '../../pure/secret-values.js';
import { codedForms } from '../coded-forms.js';

const CHARS_MIN = 8;
/** Coded, a shorter value is a word that stands anywhere. */
const CODED_CHARS_MIN = 12;
/** Where a text was cut off, so much of the beginning of a secret is taken for it. */
const CUT_CHARS_MIN = 4;
const DEPTH_MAX = 500;
const SCHEME = /^(basic|bearer|digest|dpop|negotiate|token|apikey)$/i;

export interface Hiding {
  /** The text without secrets; where it was cut off, without the beginning of one at its end as well. */
  text(text: string, cut?: { readonly isCut: boolean }): string;
  /** The same of each text and key in it. */
  value(value: Json): Json;
}

/** Names of headers, in small letters, with their values. */
export function hidingOf(secrets: readonly (readonly [string, string])[]): Hiding {
  const forms = secrets
    .flatMap(([name, value]) => [...formsOf(value)].map((form) => [name, form] as const))
    // The longest first: a part of a value is a form of its own.
    .toSorted(([, one], [, other]) => other.length - one.length);
  const text: Hiding['text'] = (given, { isCut } = { isCut: false }) => {
    const kept = forms.reduce(
      (rest, [name, form]) => rest.replaceAll(form, () => markOf(name)),
      given,
    );
    return isCut ? withoutBeginning(kept, forms) : kept;
  };
  return { text, value: (value) => (forms.length === 0 ? value : hidden(value, text, 0)) };
}

function hidden(value: Json, text: Hiding['text'], depth: number): Json {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'number') {
    const digits = text(String(value));
    return digits === String(value) ? value : digits;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEPTH_MAX) return '[nested too deep]';
  if (Array.isArray(value)) return value.map((one: Json) => hidden(one, text, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [text(key), hidden(one, text, depth + 1)]),
  );
}

function markOf(name: string): string {
  return `[value of header ${name}]`;
}

/** What a cut has left of a secret. */
function withoutBeginning(text: string, forms: readonly (readonly [string, string])[]): string {
  const left = forms.flatMap(([name, form]) => {
    for (let chars = Math.min(form.length, text.length); chars >= CUT_CHARS_MIN; chars -= 1) {
      if (text.endsWith(form.slice(0, chars))) return [{ name, chars }];
    }
    return [];
  });
  const [most] = left.toSorted((one, other) => other.chars - one.chars);
  return most === undefined ? text : `${text.slice(0, -most.chars)}${markOf(most.name)}`;
}

function formsOf(header: string): ReadonlySet<string> {
  const parts = partsOf(header).filter((part) => part.length >= CHARS_MIN);
  const coded = parts.filter((part) => part.length >= CODED_CHARS_MIN).flatMap(codedForms);
  return new Set([...parts.flatMap(writtenForms), ...parts.flatMap(escapedForms), ...coded]);
}

/** As writers of JSON for pages, and addresses, write it. */
function escapedForms(value: string): readonly string[] {
  const forPages = value.replaceAll(
    /[+&<>']/g,
    (sign) => `\\u00${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return [value.replaceAll('/', String.raw`\/`), forPages, encodeURIComponent(value)];
}

/** `Bearer abc` has the secret `abc`, `Basic …` a password, and a cookie one in each of its fields. */
function partsOf(header: string): readonly string[] {
  const whole = header.trim();
  const words = whole.split(/[\s;,]+/).filter((word) => word !== '' && !SCHEME.test(word));
  // The name before a value is no secret: `session_id=…`.
  const values = words.flatMap((word) => {
    const value = word.slice(word.indexOf('=') + 1).replaceAll('"', '');
    return [word, word.replace(/=+$/, ''), value, ...word.split('=').slice(1)];
  });
  const basic = /^basic\s+(\S+)$/i.exec(whole)?.[1];
  const pair = basic === undefined ? '' : Buffer.from(basic, 'base64').toString();
  return [whole, ...values, pair, pair.slice(pair.indexOf(':') + 1)];
}
