/**
 * Values of secret headers, in what a service gives back. Pure.
 * Invariant: values below 6 characters are not looked for: they stand anywhere by chance.
 */
import type { Json } from '../../core/json/json.js';
import { writtenForms } from '../../pure/secret-values.js';
import { formsOfValue, withoutValues, withoutValuesCut } from '../hidden-values.js';

const CHARS_MIN = 6;
const DEPTH_MAX = 500;
const SCHEME = /^(basic|bearer|digest|dpop|negotiate|token|apikey)$/i;

export interface Hiding {
  /** The text without secrets; where it was cut off, without the beginning of one at its end as well. */
  text(text: string, cut?: { readonly isCut: boolean }): string;
  /** The same of each text and key in it. */
  value(value: Json): Json;
}

/** Of the values of headers. */
export function hidingOf(headers: readonly string[]): Hiding {
  const forms = [...new Set(headers.flatMap(formsOf))];
  const text: Hiding['text'] = (given, { isCut } = { isCut: false }) =>
    isCut ? withoutValuesCut(forms, given) : withoutValues(forms, given);
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

function formsOf(header: string): readonly string[] {
  const parts = partsOf(header).filter((part) => part.length >= CHARS_MIN);
  return parts.flatMap((part) => [
    ...writtenForms(part),
    ...escapedForms(part),
    ...formsOfValue(part),
  ]);
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
