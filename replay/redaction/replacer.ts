/**
 * Replaces hidden texts in any text, also where only their beginning is left of them (previews, cut results)
 * and as JSON within JSON escapes them.
 * Invariants: a pure function of the text, so that what is equal stays equal; a text keeps its length, and JSON in it
 * stays JSON.
 */
import { escapeRestAt, layersOf } from './escapes.js';
import { unitsOf, type Units } from './layered-units.js';
import { markerFor } from './marker.js';
import { anyOf } from './patterns.js';
import { refused, type HiddenTexts } from './select.js';

/** A text longer than this is known by its beginning. */
const WHOLE_CHARS_MAX = 16;
const BEGINNING_CHARS = 12;
const MARKER_ATTEMPTS_MAX = 16;

export interface Replacement {
  readonly text: string;
  /** Hidden texts that were replaced, in their own form. */
  readonly hidden: readonly string[];
  /** Those that stood there whole, also within another one. */
  readonly whole: readonly string[];
}

export interface Replacer {
  replace(text: string): Replacement;
  markerOf(hidden: string): string;
}

/** As much of a hidden text as stands at a place of a layer of escapes. */
interface Match {
  readonly depth: number;
  readonly index: number;
  readonly hidden: string;
  readonly length: number;
}

export function replacerOf(texts: HiddenTexts, salt: string): Replacer {
  const markers = markersOf([...texts.keys()], salt);
  const byBeginning = new Map<string, string[]>();
  for (const hidden of markers.keys()) {
    const beginning = beginningOf(hidden);
    byBeginning.set(beginning, [...(byBeginning.get(beginning) ?? []), hidden]);
  }
  const lengths = [...new Set([...byBeginning.keys()].map(({ length }) => length))];
  const beginnings = anyOf([...byBeginning.keys()]);

  /** Also those that begin within another one: they may go on behind it. */
  function* matchesIn(layer: string, depth: number): Generator<Match, void> {
    beginnings.lastIndex = 0;
    for (let found = beginnings.exec(layer); found !== null; found = beginnings.exec(layer)) {
      const { index } = found;
      for (const length of lengths) {
        for (const hidden of byBeginning.get(layer.slice(index, index + length)) ?? []) {
          yield { depth, index, hidden, length: sharedLength(hidden, layer, index) };
        }
      }
      beginnings.lastIndex = index + 1;
    }
  }

  return {
    replace(text) {
      const matches =
        texts.size === 0
          ? []
          : [...layersOf(text)].flatMap((layer, depth) => [...matchesIn(layer, depth)]);
      if (matches.length === 0) return { text, hidden: [], whole: [] };
      const units = unitsOf(text, Math.max(...matches.map(({ depth }) => depth)));
      const hidden = replaceAll(units, matches, markers);
      const whole = matches.filter((one) => one.length === one.hidden.length);
      return { text: units.text(), hidden, whole: whole.map((one) => one.hidden) };
    },
    markerOf: (hidden) => markers.get(hidden)!,
  };
}

/**
 * The first one first, of those that begin together the one that goes furthest; of the same stretch what it means, so that
 * a text has one marker however it is written.
 */
function replaceAll(
  units: Units,
  matches: readonly Match[],
  markers: ReadonlyMap<string, string>,
): readonly string[] {
  const placed = matches.map(({ depth, index, ...one }) => ({
    ...one,
    depth,
    index,
    from: units.placeOf(depth, index),
    to: units.placeOf(depth, index + one.length),
  }));
  const ordered = placed.toSorted(
    (one, other) => one.from - other.from || other.to - one.to || other.depth - one.depth,
  );
  const replaced: string[] = [];
  let [end, last] = [0, ''];
  for (const { depth, index, hidden, length, from, to } of ordered) {
    if (to <= end) continue;
    const marker = markers.get(hidden)!;
    // The letters of an escape stay, or it would be none.
    const kept = escapeRestAt(units.layer(depth), index);
    for (let at = kept; at < length; at += 1) {
      if (units.placeOf(depth, index + at) < end) continue;
      units.write(depth, index + at, marker.charAt(at));
    }
    if (from >= end || hidden !== last) replaced.push(hidden);
    [end, last] = [to, hidden];
  }
  return replaced;
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

function beginningOf(text: string): string {
  return text.length > WHOLE_CHARS_MAX ? text.slice(0, BEGINNING_CHARS) : text;
}

function sharedLength(hidden: string, text: string, index: number): number {
  let length = 0;
  while (length < hidden.length && hidden.charCodeAt(length) === text.charCodeAt(index + length)) {
    length += 1;
  }
  return length;
}
