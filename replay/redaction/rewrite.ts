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
