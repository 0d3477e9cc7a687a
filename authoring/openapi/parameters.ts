/**
 * What the model says for an operation, and where each value goes.
 * Invariant: headers that carry an identity, steer the connection or are the configuration's own are never the model's.
 */
import type { Json } from '../../core/json/json.js';
import { bodyOf } from './bodies.js';
import { followed, isPart, own, unfit, words, type Part } from './document.js';
import type { Operation } from './operations.js';
import type { Field, Plan, Style } from './plan.js';
import { schemaOf, toldWith } from './schema.js';
import { isJsonType, styleOf } from './styles.js';

const FIELDS_MAX = 100;
const NAME_CHARS_MAX = 200;
/** Vendors of models take no other names of arguments. */
const ARGUMENT = /[^A-Za-z0-9_.-]+/g;
const ARGUMENT_CHARS_MAX = 64;
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const KEY_HEADER = 'idempotency-key';
/** The first three are said elsewhere in a document, the others nowhere. */
const WITHHELD: readonly string[] = [
  'accept',
  'content-type',
  'authorization',
  'proxy-authorization',
  'cookie',
  'host',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-real-ip',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-url',
  'x-rewrite-url',
];

/** `own`: headers in small letters that the configuration sends. Errors: InvalidTool. */
export function planOf(document: Part, operation: Operation, ownHeaders: readonly string[]): Plan {
  const declared = parametersOf(document, operation);
  if (declared.length > FIELDS_MAX) {
    throw unfit(`${operation.key} has more than ${FIELDS_MAX} parameters`);
  }
  const fields: Field[] = [];
  let keyHeader: string | undefined;
  for (const parameter of declared) {
    const isHeader = parameter['in'] === 'header';
    const header = isHeader ? String(parameter['name'] as string).toLowerCase() : '';
    if (header === KEY_HEADER) keyHeader = KEY_HEADER;
    if (isHeader && (header === KEY_HEADER || ownHeaders.includes(header))) continue;
    const field = fieldOf(document, operation, { parameter, taken: fields });
    if (field !== undefined) fields.push(field);
  }
  checkTemplate(operation, fields);
  const body = bodyOf(document, operation, fields);
  return {
    fields,
    ...(body !== undefined && { body }),
    ...(keyHeader !== undefined && { keyHeader }),
  };
}

/** The input of the tool, as the model is told it. */
export function inputOf({ fields, body }: Plan): Part {
  const all = [...fields, ...(body === undefined ? [] : [body])];
  const required = all.filter((one) => one.required).map(({ argument }) => argument);
  return {
    type: 'object',
    properties: Object.fromEntries(all.map(({ argument, schema }) => [argument, schema])),
    ...(required.length > 0 && { required }),
  };
}

/** Those of the operation replace those of its path that have their name and place. */
function parametersOf(document: Part, { declared, shared, key }: Operation): readonly Part[] {
  const listed = own(declared, 'parameters');
  const every = [...shared, ...(Array.isArray(listed) ? (listed as readonly Json[]) : [])];
  const byPlace = new Map<string, Part>();
  for (const one of every) {
    const parameter = followed(document, one, `a parameter of ${key}`);
    const { name, in: place } = parameter ?? {};
    if (parameter === undefined || typeof name !== 'string' || typeof place !== 'string') {
      throw unfit(`${key} has a parameter without a name or a place`);
    }
    if (name.length > NAME_CHARS_MAX) throw unfit(`${key} has a parameter with a long name`);
    byPlace.set(`${place} ${name}`, parameter);
  }
  return [...byPlace.values()];
}

interface Naming {
  readonly parameter: Part;
  readonly taken: readonly Field[];
}

function fieldOf(
  document: Part,
  { key }: Operation,
  { parameter, taken }: Naming,
): Field | undefined {
  const { name, in: place, required: needed } = parameter as Part & { readonly name: string };
  const at = `the parameter ${words(name)} of ${key}`;
  const required = place === 'path' || needed === true;
  if (place === 'path' || place === 'query' || (place === 'header' && isOffered(name))) {
    const written = writtenAs(parameter, at);
    const schema = schemaOf(document, written.schema, at);
    const description = own(parameter, 'description');
    const { schema: _, ...style } = written;
    return {
      argument: argumentOf(name, place, taken),
      name,
      in: place,
      required,
      ...style,
      schema: typeof description === 'string' ? toldWith(schema, description) : schema,
    };
  }
  // The configuration's own headers are its own matter; a session of a browser is nobody's here.
  if (!required || place === 'header') return undefined;
  throw unfit(`${at} is required in ${words(place ?? null)}, where nothing is sent`);
}

function isOffered(name: string): boolean {
  return HEADER.test(name) && !WITHHELD.includes(name.toLowerCase());
}

type Written = Style & { readonly schema: Json | undefined };

function writtenAs(parameter: Part, at: string): Written {
  const { content, schema, in: place } = parameter;
  if (isPart(content)) {
    const media = Object.keys(content).find(isJsonType);
    if (media === undefined) throw unfit(`${at} is written in a way that is not known`);
    return { style: 'json', explode: false, schema: own(content[media], 'schema') };
  }
  return { ...styleOf(parameter, { at, usual: place === 'query' ? 'form' : 'simple' }), schema };
}

/** Two places may have a parameter of one name. */
function argumentOf(name: string, place: string, taken: readonly Field[]): string {
  const plain = name.replaceAll(ARGUMENT, '_').slice(0, ARGUMENT_CHARS_MAX - 10) || 'value';
  const isFree = (one: string): boolean =>
    one !== 'body' && taken.every(({ argument }) => argument !== one);
  if (isFree(plain)) return plain;
  const placed = `${place}_${plain}`.slice(0, ARGUMENT_CHARS_MAX - 4);
  for (let number = 1; ; number += 1) {
    const one = number === 1 ? placed : `${placed}_${number}`;
    if (isFree(one)) return one;
  }
}

function checkTemplate({ path, key }: Operation, fields: readonly Field[]): void {
  const steps = [...path.matchAll(/\{([^{}/]+)\}/g)].map(([, name]) => name);
  const rest = path.replaceAll(/\{[^{}/]+\}/g, '');
  if (/[{}]/.test(rest)) throw unfit(`${key} has a brace in its path that names no parameter`);
  const named = fields.filter((field) => field.in === 'path').map(({ name }) => name);
  const missing = steps.find((name) => !named.includes(name ?? ''));
  if (missing !== undefined) throw unfit(`${key} declares no parameter ${words(missing)}`);
}
