/** The body of an operation's requests. */
import { followed, isPart, own, unfit, words, type Part } from './document.js';
import type { Operation } from './operations.js';
import type { Body, Field, Style } from './plan.js';
import { schemaOf, toldWith } from './schema.js';
import { isJsonType, MEDIA_TYPE, styleOf } from './styles.js';

const STYLES_MAX = 100;

const BODY_FORMS: readonly (readonly [Body['form'], (type: string) => boolean])[] = [
  ['json', isJsonType],
  ['form', (type) => type.toLowerCase() === 'application/x-www-form-urlencoded'],
  ['text', (type) => /^text\/(plain|markdown|csv)\b/i.test(type) && MEDIA_TYPE.test(type)],
];

/** Undefined: none is sent. Errors: InvalidTool. */
export function bodyOf(
  document: Part,
  { declared, key, method }: Operation,
  fields: readonly Field[],
): Body | undefined {
  const at = `the body of ${key}`;
  const request = followed(document, own(declared, 'requestBody'), at);
  if (request === undefined) return undefined;
  const required = own(request, 'required') === true;
  if (method === 'get' || method === 'head') {
    if (!required) return undefined;
    throw unfit(`${at} is required, and a ${method.toUpperCase()} has none`);
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
    const styles = form === 'form' ? stylesOf(own(media, 'encoding'), at) : NO_STYLES;
    return { argument: bodyName(fields), required, form, contentType, schema: told, styles };
  }
  if (!required) return undefined;
  throw unfit(`${at} is of ${words(types.slice(0, 5))}, which no model writes`);
}

const NO_STYLES: Body['styles'] = new Map();

function stylesOf(encoding: ReturnType<typeof own>, at: string): Body['styles'] {
  if (!isPart(encoding)) return NO_STYLES;
  const entries = Object.entries(encoding);
  if (entries.length > STYLES_MAX) throw unfit(`${at} has more than ${STYLES_MAX} encodings`);
  return new Map(
    entries.flatMap(([name, one]) => {
      const style = isPart(one) ? encodingOf(one, `the field ${words(name)} of ${at}`) : undefined;
      return style === undefined ? [] : [[name, style] as const];
    }),
  );
}

function encodingOf(encoding: Part, at: string): Style | undefined {
  const { style, explode, contentType } = encoding;
  if (style !== undefined || explode !== undefined) return styleOf(encoding, { at, usual: 'form' });
  if (contentType === undefined || contentType === 'text/plain') return undefined;
  if (typeof contentType === 'string' && isJsonType(contentType)) {
    return { style: 'json', explode: false };
  }
  throw unfit(`${at} is of ${words(contentType)}, which is not known in a form`);
}

function bodyName(fields: readonly Field[]): string {
  return fields.some(({ argument }) => argument === 'body') ? 'request_body' : 'body';
}
