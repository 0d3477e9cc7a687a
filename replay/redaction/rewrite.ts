/**
 * Rewrites every text of a bundle, those inside payloads included.
 * Invariant: what no text changed in stays as it was, byte for byte.
 */
import type { Json } from '../../core/json/json.js';
import {
  encodingOf,
  isObject,
  isPayload,
  payloadValue,
  type JsonObject,
} from '../../recording/history.js';
import type { Keyed, Shelf, Values } from './recorded.js';
import { refused } from './select.js';

/** Gives the new text; `place` is a JSON pointer. */
export type RewriteText = (text: string, place: string) => string;

export interface Rewriting {
  readonly text: RewriteText;
  /** Default: names stay as they are. */
  readonly name?: RewriteText;
}

export function rewrite(value: Json, how: Rewriting, place = ''): Json {
  if (typeof value === 'string') return how.text(value, place);
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    return items.map((item, index) => rewrite(item, how, `${place}/${index}`));
  }
  if (!isObject(value)) return value;
  if (isPayload(value)) return rewritePayload(value, how, place);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const inside = `${place}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      return [how.name?.(name, inside) ?? name, rewrite(inner, how, inside)];
    }),
  );
}

function rewritePayload(payload: JsonObject, how: Rewriting, place: string): JsonObject {
  const encoding = encodingOf(payload);
  if (encoding === 'binary/null') return payload;
  if (encoding !== 'json/plain') {
    throw refused(
      `A payload at ${place} is in the encoding ${encoding.slice(0, 60)}, which cannot be looked into.`,
      'Export the run without --redact, from where its payloads can be read.',
    );
  }
  const before = payloadValue(payload);
  const after = rewrite(before, how, place);
  const text = JSON.stringify(after);
  if (text === JSON.stringify(before)) return payload;
  return { ...payload, data: Buffer.from(text, 'utf8').toString('base64') };
}

/** What of a bundle is rewritten: the whole of it, or some of its parts. */
type Parts = { readonly [name: string]: unknown };

/** A bundle with every text rewritten, in the order in which it stands there; its lists go to the shelf. */
export async function rewriteRecorded<Of extends object>(
  recorded: Of,
  how: Rewriting,
  shelf: Shelf,
): Promise<Of> {
  return (await rewriteParts(recorded as Parts, { how, shelf }, '')) as Of;
}

interface Moving {
  readonly how: Rewriting;
  readonly shelf: Shelf;
}

async function rewriteParts(parts: Parts, moving: Moving, place: string): Promise<Parts> {
  const done: { [name: string]: unknown } = {};
  for (const [name, part] of Object.entries(parts)) {
    const inside = `${place}/${name}`;
    moving.how.name?.(name, inside);
    done[name] = await rewritePart(name, part, { ...moving, inside });
  }
  return done;
}

async function rewritePart(
  name: string,
  part: unknown,
  { how, shelf, inside }: Moving & { readonly inside: string },
): Promise<unknown> {
  switch (name) {
    case 'events':
      return shelf.list(rewriteList(part as Values<Json>, how, inside));
    case 'nodes':
    case 'blobs':
      return shelf.keyed(rewriteKeyed(part as Keyed<Json>, how, inside));
    case 'segments':
    case 'members': {
      const all: Parts[] = [];
      for (const [index, one] of (part as readonly Parts[]).entries()) {
        all.push(await rewriteParts(one, { how, shelf }, `${inside}/${index}`));
      }
      return all;
    }
    default:
      return rewrite(part as Json, how, inside);
  }
}

async function* rewriteList(
  values: Values<Json>,
  how: Rewriting,
  place: string,
): AsyncGenerator<Json, void> {
  let index = 0;
  for await (const value of values) {
    yield rewrite(value, how, `${place}/${index}`);
    index += 1;
  }
}

async function* rewriteKeyed(
  values: Keyed<Json>,
  how: Rewriting,
  place: string,
): AsyncGenerator<readonly [string, Json], void> {
  for await (const [hash, value] of values) {
    const inside = `${place}/${hash}`;
    yield [how.name?.(hash, inside) ?? hash, rewrite(value, how, inside)];
  }
}
