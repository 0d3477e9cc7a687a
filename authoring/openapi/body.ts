/** The body of a request, as the model says it. */
import type { Json } from '../../core/json/json.js';
import { followed, isPart, own, unfit, words, type Part } from './document.js';
import type { Operation } from './operations.js';
import { schemaOf } from './schema.js';

const MEDIA_TYPE = /^[\w.+-]+\/[\w.+*-]+(; ?[\w-]+=[\w.-]+)?$/;
const DESCRIPTION_CHARS_MAX = 600;

export function toldWith(schema: Part, text: string): Part {
  const own = typeof schema['description'] === 'string' ? ` ${schema['description']}` : '';
  const description = `${text.slice(0, DESCRIPTION_CHARS_MAX)}${own}`;
  return { ...schema, description: description.slice(0, DESCRIPTION_CHARS_MAX) };
}

export interface Body {
  readonly argument: string;
  readonly required: boolean;
  readonly form: 'json' | 'form' | 'text';
  readonly contentType: string;
  readonly schema: Part;
  /** Fields of a form whose objects are written as `field[key]`. */
  readonly deep: readonly string[];
}

export function isJsonType(type: string): boolean {
  return /^(application|text)\/([\w.-]+\+)?json\b/i.test(type) && MEDIA_TYPE.test(type);
}

const BODY_FORMS: readonly (readonly [Body['form'], (type: string) => boolean])[] = [
  ['json', isJsonType],
  ['form', (type) => type.toLowerCase() === 'application/x-www-form-urlencoded'],
  ['text', (type) => /^text\/(plain|markdown|csv)\b/i.test(type) && MEDIA_TYPE.test(type)],
];

export function bodyOf(
  document: Part,
  { declared, key, method }: Operation,
  taken: readonly string[],
): Body | undefined {
  const at = `the body of ${key}`;
  const request = followed(document, own(declared, 'requestBody'), at);
  if (request === undefined) return undefined;
  const required = own(request, 'required') === true;
  if (method === 'get' || method === 'head') {
    if (!required) return undefined;
    throw unfit(`${at} cannot be sent: a request of ${method.toUpperCase()} has none`);
  }
  const content = own(request, 'content');
  const types = isPart(content) ? Object.keys(content) : [];
  for (const [form, fits] of BODY_FORMS) {
    const contentType = types.find(fits);
    if (contentType === undefined) continue;
    const media = own(content, contentType);
    const schema = schemaOf(document, own(media, 'schema'), at);
    const description = own(request, 'description');
    const told = typeof description === 'string' ? toldWith(schema, description) : schema;
    const deep = form === 'form' ? deepFields(own(media, 'encoding'), at) : [];
    return { argument: bodyName(taken), required, form, contentType, schema: told, deep };
  }
  if (!required) return undefined;
  throw unfit(`${at} is of ${words(types.slice(0, 5))}, which no model writes`);
}

/** Errors: InvalidTool, for a form whose fields are written in a way that is not known. */
function deepFields(encoding: Json | undefined, at: string): readonly string[] {
  if (!isPart(encoding)) return [];
  return Object.entries(encoding).flatMap(([name, said]) => {
    const style = own(said, 'style');
    if (style === 'deepObject') return [name];
    if ((style === undefined || style === 'form') && own(said, 'explode') !== false) return [];
    throw unfit(`the field ${words(name)} of ${at} is written in a way that is not known`);
  });
}

function bodyName(taken: readonly string[]): string {
  return taken.includes('body') ? 'request_body' : 'body';
}
