/**
 * The request of a call. Pure.
 * Invariants: a value never leaves its place: no argument changes the host, the steps of the path before and after it, another
 * parameter or another header. What cannot be sent is a ToolError: nothing has happened.
 */
import { ownValue, type Json } from '../../core/json/json.js';
import { ToolError } from '../tool-error.js';
import type { Body } from './body.js';
import type { Field, Plan } from './parameters.js';

const ADDRESS_CHARS_MAX = 16_384;
const HEADER_CHARS_MAX = 4_096;
/** As they stand in an address, between values that are encoded. */
const SEPARATORS = { plain: ',', space: '%20', pipe: '%7C' } as const;
const DEPTH_MAX = 16;

export interface Destination {
  /** `https://api.example.com` */
  readonly origin: string;
  /** Path before all paths of the document, without a slash at its end. */
  readonly base: string;
  /** `/pets/{petId}` */
  readonly path: string;
}

export interface Requested {
  readonly url: URL;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: string;
}

type Input = { readonly [argument: string]: Json };

export function requestOf(plan: Plan, input: Input, destination: Destination): Requested {
  const url = urlOf(plan, input, destination);
  const headers = plan.fields
    .filter((field) => field.in === 'header')
    .flatMap((field) => headerOf(field, ownValue(input, field.argument)));
  const value = plan.body === undefined ? undefined : ownValue(input, plan.body.argument);
  if (plan.body === undefined || value === undefined) return { url, headers };
  return {
    url,
    headers: [...headers, ['content-type', plan.body.contentType]],
    body: bodyOf(plan.body, value),
  };
}

function urlOf({ fields }: Plan, input: Input, { origin, base, path }: Destination): URL {
  let filled = path;
  for (const field of fields.filter((one) => one.in === 'path')) {
    const step = stepOf(field, ownValue(input, field.argument));
    filled = filled.replaceAll(`{${field.name}}`, () => step);
  }
  const asked = fields.filter((field) => field.in === 'query');
  const query = asked
    .flatMap((field) => pairsOf(field, ownValue(input, field.argument), asked))
    .map(([name, value]) => `${encoded(name)}=${value}`);
  const whole = `${base}${filled}`;
  const url = new URL(`${origin}${whole}${query.length > 0 ? `?${query.join('&')}` : ''}`);
  if (url.href.length > ADDRESS_CHARS_MAX) throw unsendable('The address is too long.');
  // Steps of dots are taken away by every reader of an address.
  if (url.pathname === whole && url.origin === origin) return url;
  throw unsendable('An argument would change the path.');
}

function stepOf(field: Field, value: Json | undefined): string {
  const texts = listOf(value).map((one) => scalar(field, one));
  // Servers that decode slashes before they look would climb by such a value.
  const climbs = texts.some((text) => text.split(/[/\\]/).some((step) => /^\.{1,2}$/.test(step)));
  const step = texts.map(encoded).join(',');
  if (step !== '' && !climbs) return step;
  throw unsendable(`The argument ${field.argument} cannot stand in a path.`);
}

/** A name as the service knows it, and a value as it stands in an address. */
type Pair = readonly [string, string];

function pairsOf(field: Field, value: Json | undefined, all: readonly Field[]): readonly Pair[] {
  const { name, style, explode } = field;
  if (value === undefined) return [];
  if (style === 'json') return [[name, encoded(JSON.stringify(value))]];
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return objectPairs(field, Object.entries(value as Input), all);
  }
  if (style === 'deep') throw unsendable(`The argument ${field.argument} is no object.`);
  const texts = listOf(value).map((one) => encoded(scalar(field, one)));
  if (explode || !Array.isArray(value)) return texts.map((text) => [name, text] as const);
  return texts.length === 0 ? [] : [[name, texts.join(SEPARATORS[style])]];
}

function objectPairs(
  field: Field,
  entries: readonly (readonly [string, Json])[],
  all: readonly Field[],
): readonly Pair[] {
  const { name, argument, style, explode } = field;
  const pairs = entries.map(([key, one]) => [key, encoded(scalar(field, one))] as const);
  if (style === 'deep') return pairs.map(([key, text]) => [`${name}[${key}]`, text]);
  if (!explode) {
    const flat = pairs.flatMap(([key, text]) => [encoded(key), text]);
    return flat.length === 0 ? [] : [[name, flat.join(',')]];
  }
  const taken = pairs.find(([key]) => all.some((one) => one.name === key));
  if (taken === undefined) return pairs;
  throw unsendable(`The argument ${argument} has a field that is another parameter.`);
}

function headerOf(field: Field, value: Json | undefined): readonly (readonly [string, string])[] {
  if (value === undefined) return [];
  const { name, argument } = field;
  const text = listOf(value)
    .map((one) => scalar(field, one))
    .join(',');
  if (isHeaderText(text)) return [[name.toLowerCase(), text]];
  throw unsendable(`The argument ${argument} cannot stand in a header.`);
}

export function isHeaderText(text: string): boolean {
  return text.length <= HEADER_CHARS_MAX && /^[\t\x20-\x7e]*$/.test(text);
}

function bodyOf({ form, argument, deep }: Body, value: Json): string {
  if (form === 'json') return JSON.stringify(value);
  if (form === 'text') return typeof value === 'string' ? value : JSON.stringify(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw unsendable(`The argument ${argument} is no object.`);
  }
  const pairs = Object.entries(value as Input).flatMap(([name, one]) =>
    deep.includes(name)
      ? deepPairs(name, one, DEPTH_MAX)
      : listOf(one).map((part): [string, string] => [name, fieldText(part)]),
  );
  return new URLSearchParams(pairs).toString();
}

function deepPairs(name: string, value: Json, depth: number): [string, string][] {
  if (typeof value !== 'object' || value === null) return [[name, String(value)]];
  if (depth === 0) throw unsendable(`The field ${name.slice(0, 60)} nests too deep.`);
  return Object.entries(value as Input).flatMap(([key, one]) =>
    deepPairs(`${name}[${key}]`, one, depth - 1),
  );
}

function fieldText(value: Json): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function listOf(value: Json | undefined): readonly Json[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as readonly Json[]) : [value];
}

function scalar({ argument }: Field, value: Json): string {
  if (value === null || typeof value === 'object') {
    throw unsendable(`The argument ${argument} is no plain value.`);
  }
  return String(value);
}

function encoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    throw unsendable('An argument is no text that can be sent.');
  }
}

export function unsendable(why: string): ToolError {
  return new ToolError(`The request cannot be sent. ${why}`);
}
