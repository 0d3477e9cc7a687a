/** Values that no text may have: as they are, and as they come back from a service. */

/** Shorter values are words that stand anywhere: `true`, `en`. */
const HIDDEN_CHARS_MIN = 6;
/** Coded, a shorter value is a word that stands anywhere. */
const CODED_CHARS_MIN = 12;
const HIDDEN = '[hidden]';

/** The text with a mark in place of each value that is long enough. */
export function withoutValues(values: readonly string[], text: string): string {
  return values
    .filter((value) => value.length >= HIDDEN_CHARS_MIN)
    .toSorted((one, other) => other.length - one.length)
    .reduce((rest, value) => rest.replaceAll(value, HIDDEN), text);
}

/** The same of a text that was cut off: what is left of a value at its end goes as well. */
export function withoutValuesCut(values: readonly string[], text: string): string {
  const ends = values
    .filter((value) => value.length >= HIDDEN_CHARS_MIN)
    .map((value) => {
      const longest = Math.min(value.length - 1, text.length);
      for (let chars = longest; chars > 0; chars -= 1) {
        if (text.endsWith(value.slice(0, chars))) return chars;
      }
      return 0;
    });
  return withoutValues(values, text.slice(0, text.length - Math.max(0, ...ends)));
}

/** As a value may come back: as it is, and in base64, where the place of its first byte decides what it looks like. */
export function formsOfValue(value: string): readonly string[] {
  if (value.length < CODED_CHARS_MIN) return [value];
  const bytes = Buffer.from(value);
  const coded = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6)),
  );
  const forAddresses = coded.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [...new Set([value, ...coded, ...forAddresses])];
}
