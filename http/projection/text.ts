/** Texts and values as a UI message has them. */
import type { Json, StoredText } from '../../core/json/json.js';

/** A text that was left in the store is shown by its beginning. */
export function wholeText(text: StoredText): string {
  return 'text' in text ? text.text : `${text.preview}…`;
}

/** Longer ones are texts, whatever they hold. */
const PARSED_CHARS_MAX = 1_000_000;

/** The result of a tool as its value where it is the JSON of an object or a list, else as text. */
export function outputOf(text: string): Json {
  if (!/^\s*[[{]/.test(text) || text.length > PARSED_CHARS_MAX) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
