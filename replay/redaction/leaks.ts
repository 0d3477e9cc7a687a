/**
 * What is left of hidden texts in what is written, in whatever form: the last look before a file.
 * Invariant: an error says the rule and the form, and never the text.
 */
import { decodedForms } from './coded-forms.js';
import { layersOf, unescaped } from './escapes.js';
import { anyOf } from './patterns.js';
import type { Replacer } from './replacer.js';
import type { HiddenTexts } from './select.js';

/** A piece of a hidden text that is this long must not be left. */
const PIECE_CHARS = 24;
/** In another form a shorter text is found by chance. */
const CODED_CHARS_MIN = 8;

export interface Leak {
  readonly rule: string;
  /** In words. */
  readonly form: string;
}

export function leakFinder(
  hidden: HiddenTexts,
  replacer: Pick<Replacer, 'markerOf'>,
): (text: string) => Leak | undefined {
  const rules = new Map<string, string>();
  for (const [text, rule] of hidden) {
    for (const piece of piecesOf(text, replacer.markerOf(text))) rules.set(piece, rule);
  }
  if (rules.size === 0) return () => undefined;
  const plain = anyOf([...rules.keys()]);
  const long = [...rules.keys()].filter(({ length }) => length >= CODED_CHARS_MIN);
  const coded = long.length === 0 ? undefined : anyOf(long);

  function foundIn(pattern: RegExp, text: string, form: string): Leak | undefined {
    pattern.lastIndex = 0;
    const found = pattern.exec(text);
    return found === null ? undefined : { rule: rules.get(found[0])!, form };
  }

  function codedIn(text: string): Leak | undefined {
    if (coded === undefined || text.length < CODED_CHARS_MIN) return undefined;
    for (const { form, text: decoded } of decodedForms(text)) {
      for (const layer of layersOf(decoded)) {
        const leak = foundIn(coded, layer, form);
        if (leak !== undefined) return leak;
      }
    }
    return undefined;
  }

  return (text) => {
    let last = text;
    for (const layer of layersOf(text)) {
      const form = layer === text ? 'as it is' : 'escaped as JSON';
      const leak = foundIn(plain, layer, form);
      if (leak !== undefined) return leak;
      last = layer;
    }
    if (unescaped(last) !== last)
      return { rule: [...hidden.values()][0]!, form: 'escaped too often' };
    return codedIn(text) ?? (last === text ? undefined : codedIn(last));
  };
}

/** Any piece of about twice this length has one of them whole; what a marker keeps is none. */
function piecesOf(text: string, marker: string): readonly string[] {
  if (text.length <= PIECE_CHARS) return [text];
  const count = Math.floor(text.length / PIECE_CHARS);
  return Array.from({ length: count }, (_, index) => index * PIECE_CHARS)
    .map((from) => [from, from + PIECE_CHARS] as const)
    .filter(([from, to]) => text.slice(from, to) !== marker.slice(from, to))
    .map(([from, to]) => text.slice(from, to));
}
