/**
 * An OpenAPI document as plain JSON of bounded size, and its references.
 * Invariants: nothing outside of the document is read; a lookup sees own fields alone; a document that is too large, too deep
 * or refers in a circle is refused.
 */
import { parseDocument } from 'yaml';
import type { Json } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import { parseJsonText } from '../../pure/json-text.js';

const DOCUMENT_BYTES_MAX = 8 * 1024 * 1024;
const PARTS_MAX = 300_000;
const DEPTH_MAX = 64;
const HOPS_MAX = 32;
const ALIASES_MAX = 1_000;
const WORDS_CHARS_MAX = 200;
const SPOKEN = /^3\.[01](\.\d+)?$/;

export type Part = { readonly [key: string]: Json };

/** Of JSON or YAML text, or of an object. Errors: InvalidTool. */
export function documentOf(given: unknown): Part {
  const value = copied(typeof given === 'string' ? read(given) : given, { left: PARTS_MAX }, 0);
  if (typeof value === 'string') {
    throw unfit('it is a text and no object', "Give the file's text, not its path.");
  }
  if (!isPart(value)) throw unfit('it is no object');
  const { openapi, swagger } = value;
  if (typeof openapi === 'string' && SPOKEN.test(openapi)) return value;
  if (typeof openapi === 'number') {
    throw unfit('its version is a number', "Write openapi: '3.1.0'.");
  }
  const said = swagger ?? openapi;
  const version = said === undefined ? 'names no version' : `is of version ${words(said)}`;
  throw unfit(`it ${version}, and not 3.0 or 3.1`, 'Convert the document to OpenAPI 3.1.');
}

function read(text: string): unknown {
  if (Buffer.byteLength(text) > DOCUMENT_BYTES_MAX) {
    throw unfit(`it is larger than ${DOCUMENT_BYTES_MAX} bytes`);
  }
  if (/^[\uFEFF\s]*\{/.test(text)) {
    const parsed = parseJsonText(text);
    if (parsed.ok) return parsed.value;
    throw unfit(`line ${parsed.line}, column ${parsed.column}: ${parsed.reason}`);
  }
  try {
    const options = { schema: 'core', prettyErrors: false, stringKeys: true } as const;
    const document = parseDocument(text, options);
    const [fault] = document.errors;
    if (fault !== undefined) throw fault;
    return document.toJS({ maxAliasCount: ALIASES_MAX });
  } catch (error) {
    throw unfit(error instanceof Error ? words(error.message) : 'it is no YAML');
  }
}

/** Objects that lie at several places are counted at each: a small text may stand for a large document. */
function copied(value: unknown, budget: { left: number }, depth: number): Json {
  budget.left -= 1;
  if (budget.left < 0) throw unfit(`it has more than ${PARTS_MAX} parts`);
  if (depth > DEPTH_MAX) throw unfit(`it nests deeper than ${DEPTH_MAX} levels`);
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map((one) => copied(one, budget, depth + 1));
  if (typeof value !== 'object') throw unfit(`it holds a ${typeof value}, which is no JSON`);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  if (fields.some(([key]) => key === '__proto__')) throw unfit('it has a field "__proto__"');
  return Object.fromEntries(fields.map(([key, field]) => [key, copied(field, budget, depth + 1)]));
}

/** The part itself, or the one that it refers to; undefined: there is none. Errors: InvalidTool. */
export function followed(document: Part, given: Json | undefined, at: string): Part | undefined {
  let value = given;
  for (let hops = 0; hops < HOPS_MAX; hops += 1) {
    if (!isPart(value)) return undefined;
    const ref = own(value, '$ref');
    if (ref === undefined) return value;
    value = target(document, ref, at);
  }
  throw unfit(`${at} refers to itself`);
}

/** What a local reference names. Errors: InvalidTool, for one that leads out of the document or to nothing. */
export function target(document: Part, ref: Json, at: string): Json {
  if (typeof ref !== 'string' || !ref.startsWith('#/')) {
    const hint = 'Bundle the document into one file first; nothing else is fetched.';
    throw unfit(`${at} refers to ${words(ref)}, which lies outside of the document`, hint);
  }
  let value: Json | undefined = document;
  for (const step of ref.slice(2).split('/')) {
    value = own(value, stepOf(step, at));
    if (value === undefined) throw unfit(`${at} refers to ${words(ref)}, which is not there`);
  }
  return value;
}

function stepOf(step: string, at: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    throw unfit(`${at} has a reference that cannot be read`);
  }
}

export function own(value: Json | undefined, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Part)[key];
}

export function isPart(value: Json | undefined): value is Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function words(value: Json): string {
  return (JSON.stringify(value) ?? '').slice(0, WORDS_CHARS_MAX);
}

export function unfit(why: string, hint = 'Mend the document, or allow other operations.') {
  return new HoldfastError('InvalidTool', `The OpenAPI document cannot be used: ${why}.`, { hint });
}
