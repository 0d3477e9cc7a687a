/**
 * The request of a call. Pure.
 * Invariants: a value never leaves its place: no argument changes the host, the steps of the path before and after it, another
 * parameter or another header. What cannot be sent is a ToolError: nothing has happened.
 */
import { ownValue, type Json } from '../../core/json/json.js';
import { declaredOf } from './declared.js';
import { encoded, formOf, listOf, queryOf, scalar, unsendable, type Fields } from './pairs.js';
import type { Body, Field, Plan } from './plan.js';

const ADDRESS_CHARS_MAX = 16_384;
const HEADER_CHARS_MAX = 4_096;

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

type Input = Fields;

export function requestOf(plan: Plan, given: Input, destination: Destination): Requested {
  const input = declaredIn(plan, given);
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

function declaredIn({ fields, body }: Plan, input: Input): Input {
  const arguments_ = [...fields, ...(body === undefined ? [] : [body])];
  return Object.fromEntries(
    arguments_.flatMap(({ argument, schema }) => {
      const value = ownValue(input, argument);
      return value === undefined ? [] : [[argument, declaredOf(schema, value)] as const];
    }),
  );
}

function urlOf({ fields }: Plan, input: Input, { origin, base, path }: Destination): URL {
  let filled = path;
  for (const field of fields.filter((one) => one.in === 'path')) {
    const step = stepOf(field, ownValue(input, field.argument));
    filled = filled.replaceAll(`{${field.name}}`, () => step);
  }
  const query = queryOf(
    fields.filter((field) => field.in === 'query'),
    input,
  );
  const whole = `${base}${filled}`;
  const url = new URL(`${origin}${whole}${query === '' ? '' : `?${query}`}`);
  if (url.href.length > ADDRESS_CHARS_MAX) throw unsendable('The address is too long.');
  // Steps of dots are taken away by every reader of an address.
  if (url.pathname === whole && url.origin === origin) return url;
  throw unsendable('An argument would change the path.');
}

function stepOf({ argument, style }: Field, value: Json | undefined): string {
  const texts =
    style === 'json' && value !== undefined
      ? [JSON.stringify(value)]
      : listOf(value).map((one) => scalar(argument, one));
  if (texts.some(isClimbing)) throw unsendable('An argument would change the path.');
  const step = texts.map(encoded).join(',');
  if (step === '') throw unsendable(`The argument ${argument} cannot stand in a path.`);
  return step;
}

/** Services that decode slashes take steps of dots between them away. */
function isClimbing(text: string): boolean {
  const plain = text.replaceAll(/%2e/gi, '.').replaceAll(/%2f/gi, '/').replaceAll(/%5c/gi, '\\');
  return /(?:^|[/\\])\.{1,2}(?:$|[/\\;])/.test(plain);
}

function headerOf(
  { name, argument, style }: Field,
  value: Json | undefined,
): readonly (readonly [string, string])[] {
  if (value === undefined || (value === null && style !== 'json')) return [];
  const texts = listOf(value);
  const text =
    style === 'json' ? JSON.stringify(value) : texts.map((one) => scalar(argument, one)).join(',');
  if (isHeaderText(text)) return [[name.toLowerCase(), text]];
  throw unsendable(`The argument ${argument} cannot stand in a header.`);
}

export function isHeaderText(text: string): boolean {
  return text.length <= HEADER_CHARS_MAX && /^[\t\x20-\x7e]*$/.test(text);
}

function bodyOf(body: Body, value: Json): string {
  const { form, argument } = body;
  if (form === 'json') return JSON.stringify(value);
  if (form === 'text') return typeof value === 'string' ? value : JSON.stringify(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw unsendable(`The argument ${argument} is no object.`);
  }
  return formOf(body, value as Input);
}
