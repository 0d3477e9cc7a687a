/**
 * JSON's escapes in any text, whole JSON or not, one layer at a time: JSON in JSON has several.
 */

const ESCAPE = /\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])/g;
const ESCAPE_HERE = new RegExp(ESCAPE.source, 'y');
const PARTS = new RegExp(`${ESCAPE.source}|[^]`, 'gu');
const ESCAPE_CHARS_MAX = 6;
/** Each layer at least halves a row of backslashes, so that only a text made for it has more. */
export const LAYERS_MAX = 32;

const SHORT: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** The text with one layer of escapes taken off, or itself. */
export function unescaped(text: string): string {
  return text.includes('\\') ? text.replaceAll(ESCAPE, decoded) : text;
}

/** The text, and what each layer of escapes has within it. */
export function* layersOf(text: string): Generator<string, void> {
  let layer = text;
  for (let depth = 0; depth <= LAYERS_MAX; depth += 1) {
    yield layer;
    const inner = unescaped(layer);
    if (inner === layer) return;
    layer = inner;
  }
}

/** Where each unit of the unescaped text begins in the text; one more, for the end. */
export function beginningsOf(text: string): Uint32Array {
  const beginnings = new Uint32Array(unescaped(text).length + 1);
  let [from, at] = [0, 0];
  for (const { 0: escape, index } of text.matchAll(ESCAPE)) {
    for (; from < index; from += 1) beginnings[at++] = from;
    beginnings[at++] = index;
    from = index + escape.length;
  }
  for (; from <= text.length; from += 1) beginnings[at++] = from;
  return beginnings;
}

/** What the text is made of: escapes, and characters. */
export function escapesAndCharacters(text: string): readonly string[] {
  return text.match(PARTS) ?? [];
}

/** An escape of the unit in the form that another escape has; a short one stays, because markers keep what it stands for. */
export function escapedAs(unit: string, before: string): string {
  if (before.length === 2) return before;
  const digits = unit.charCodeAt(0).toString(16).padStart(4, '0');
  return `\\u${/[A-F]/.test(before) ? digits.toUpperCase() : digits}`;
}

/** How many units from there on belong to an escape that begins before. */
export function escapeRestAt(text: string, index: number): number {
  for (let before = 1; before < ESCAPE_CHARS_MAX && before <= index; before += 1) {
    const at = index - before;
    if (text.charAt(at) !== '\\' || backslashesBefore(text, at) % 2 === 1) continue;
    ESCAPE_HERE.lastIndex = at;
    const length = ESCAPE_HERE.exec(text)?.[0].length ?? 0;
    return Math.max(0, length - before);
  }
  return 0;
}

function decoded(escape: string): string {
  if (escape.length > 2) return String.fromCharCode(parseInt(escape.slice(2), 16));
  return SHORT[escape.charAt(1)] ?? escape.charAt(1);
}

function backslashesBefore(text: string, index: number): number {
  let count = 0;
  while (text.charAt(index - count - 1) === '\\') count += 1;
  return count;
}
