/**
 * Replaces hidden texts in any text, also where only their beginning is left of them (previews, cut results)
 * and within JSON.
 * Invariant: a pure function of the text, so that what is equal stays equal.
 */
import { markerFor } from './marker.js';
import { refused, type HiddenTexts } from './select.js';

/** A text longer than this is known by its beginning. */
const WHOLE_CHARS_MAX = 16;
const BEGINNING_CHARS = 12;
const MARKER_ATTEMPTS_MAX = 16;
/** A piece of a hidden text that is this long must not be left. */
const PIECE_CHARS = 24;
/** JSON in JSON in a text. */
const ESCAPES_MAX = 2;

export interface Replacement {
  readonly text: string;
  /** Hidden texts that were replaced, in their own form. */
  readonly hidden: readonly string[];
}

export interface Replacer {
  replace(text: string): Replacement;
  /** A hidden text, whole or a long piece of it, that is still in there. */
  leftIn(text: string): string | undefined;
  markerOf(hidden: string): string;
}

interface Form {
  readonly hidden: string;
  readonly text: string;
  readonly marker: string;
}

export function replacerOf(texts: HiddenTexts, salt: string): Replacer {
  const markers = markersOf([...texts.keys()], salt);
  const forms = [...markers].flatMap(([hidden, marker]) => formsOf(hidden, marker));
  const byBeginning = new Map<string, Form[]>();
  for (const form of forms) {
    const beginning = beginningOf(form);
    byBeginning.set(beginning, [...(byBeginning.get(beginning) ?? []), form]);
  }
  const beginnings = pattern([...byBeginning.keys()]);
  const pieces = pattern([...new Set(forms.flatMap(({ text }) => piecesOf(text)))]);

  function replace(text: string): Replacement {
    const parts: string[] = [];
    const hidden: string[] = [];
    let from = 0;
    beginnings.lastIndex = 0;
    for (let match = beginnings.exec(text); match !== null; match = beginnings.exec(text)) {
      const found = longest(byBeginning.get(match[0])!, text, match.index);
      parts.push(text.slice(from, match.index), found.marker);
      hidden.push(found.hidden);
      from = match.index + found.marker.length;
      beginnings.lastIndex = from;
    }
    return { text: [...parts, text.slice(from)].join(''), hidden };
  }

  return {
    replace: (text) => (forms.length === 0 ? { text, hidden: [] } : replace(text)),
    leftIn(text) {
      pieces.lastIndex = 0;
      return forms.length === 0 ? undefined : pieces.exec(text)?.[0];
    },
    markerOf: (hidden) => markers.get(hidden)!,
  };
}

function markersOf(hidden: readonly string[], salt: string): ReadonlyMap<string, string> {
  const taken = new Set<string>(hidden);
  return new Map(
    hidden.map((text) => {
      for (let attempt = 0; attempt < MARKER_ATTEMPTS_MAX; attempt += 1) {
        const marker = markerFor(text, salt, attempt);
        if (taken.has(marker)) continue;
        taken.add(marker);
        return [text, marker] as const;
      }
      throw refused(
        'Two hidden texts would look the same, and could no longer be told apart.',
        'Let the rules match longer texts.',
      );
    }),
  );
}

/** A text as it is, and as it stands within JSON. */
function formsOf(hidden: string, marker: string): readonly Form[] {
  const forms: Form[] = [{ hidden, text: hidden, marker }];
  for (const escape of [escaped, escapedAscii]) {
    let [text, replaced] = [hidden, marker];
    for (let level = 0; level < ESCAPES_MAX; level += 1) {
      [text, replaced] = [escape(text), escape(replaced)];
      const known = forms.some((form) => form.text === text);
      if (!known && text.length === replaced.length) forms.push({ hidden, text, marker: replaced });
    }
  }
  return forms;
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function escapedAscii(text: string): string {
  return escaped(text).replaceAll(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function beginningOf({ text }: Form): string {
  return text.length > WHOLE_CHARS_MAX ? text.slice(0, BEGINNING_CHARS) : text;
}

/** As much as the text at this place shares with the form that shares most. */
function longest(
  forms: readonly Form[],
  text: string,
  index: number,
): { readonly hidden: string; readonly marker: string } {
  const shared = forms.map((form) => ({ form, length: sharedLength(form.text, text, index) }));
  const { form, length } = shared.reduce((best, one) => (one.length > best.length ? one : best));
  return { hidden: form.hidden, marker: form.marker.slice(0, length) };
}

function sharedLength(form: string, text: string, index: number): number {
  let length = 0;
  while (length < form.length && form.charCodeAt(length) === text.charCodeAt(index + length)) {
    length += 1;
  }
  return length;
}

/** Any piece of about twice this length has one of them whole. */
function piecesOf(text: string): readonly string[] {
  if (text.length <= PIECE_CHARS) return [text];
  const count = Math.floor(text.length / PIECE_CHARS);
  return Array.from({ length: count }, (_, index) =>
    text.slice(index * PIECE_CHARS, (index + 1) * PIECE_CHARS),
  );
}

/** Longer ones first: of two that begin alike the whole one is meant. */
function pattern(texts: readonly string[]): RegExp {
  const sorted = texts.toSorted((a, b) => b.length - a.length);
  return new RegExp(
    sorted.map((text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'),
    'g',
  );
}
