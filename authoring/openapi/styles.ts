/** How a document says that a value is written. */
import { unfit, words, type Part } from './document.js';
import type { Style } from './plan.js';

export const MEDIA_TYPE = /^[\w.+-]+\/[\w.+*-]+(; ?[\w-]+=[\w.-]+)?$/;
const NAMED = { spaceDelimited: 'space', pipeDelimited: 'pipe', deepObject: 'deep' } as const;

export function isJsonType(type: string): boolean {
  return /^(application|text)\/([\w.-]+\+)?json\b/i.test(type) && MEDIA_TYPE.test(type);
}

/** `usual`: the style at its place when none is said. Only `form` explodes by itself. Errors: InvalidTool. */
export function styleOf(
  { style, explode }: Part,
  { at, usual }: { readonly at: string; readonly usual: 'form' | 'simple' },
): Style {
  const isUsual = style === undefined || style === usual;
  const exploded = typeof explode === 'boolean' ? explode : isUsual && usual === 'form';
  if (isUsual) return { style: 'plain', explode: exploded };
  const isKnown = typeof style === 'string' && Object.hasOwn(NAMED, style) && usual === 'form';
  if (!isKnown) throw unfit(`${at} has the style ${words(style)}, which is not known`);
  return { style: NAMED[style as keyof typeof NAMED], explode: exploded };
}
