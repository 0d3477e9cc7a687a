/**
 * What a search for questions looks at: one text per question, made when it is opened.
 * Invariants: a text and what is looked for are folded here, by the same function, and never by a database: each has
 * its own idea of letters and cases; only what stands in a question is found, not the names of its fields.
 */
import { HoldfastError } from '../core/state/errors.js';
import type { AskView } from '../core/state/ask-view.js';
import { isBlobRef, type Json } from '../core/json/json.js';
import { wellFormed } from './bounds.js';

/** Longest text that may be looked for, in characters. */
const SEARCH_CHARS_MAX = 1_000;
/** More of one question is not looked at. */
const SEARCHABLE_CHARS_MAX = 100_000;

/** Everything in a question that a person may remember it by. */
export function searchableText(runId: string, view: AskView): string {
  const { askId, tool, args, question, requestedBy, roles } = view;
  const parts = [runId, askId, tool, question, requestedBy, ...roles, ...valuesIn(args ?? null)];
  const present = parts.filter((part) => part !== undefined);
  return folded(present.join('\n').slice(0, SEARCHABLE_CHARS_MAX));
}

/**
 * A pattern of LIKE, with `!` as its escape, for this text itself, whatever stands in it.
 * Errors: `InvalidRequest` for nothing at all, and for more than SEARCH_CHARS_MAX.
 */
export function searchPattern(search: string): string {
  if (search !== '' && search.length <= SEARCH_CHARS_MAX) {
    return `%${folded(search).replaceAll(/[!%_]/g, '!$&')}%`;
  }
  throw new HoldfastError('InvalidRequest', 'This cannot be looked for.', {
    hint: `Look for a text of 1 to ${SEARCH_CHARS_MAX} characters.`,
  });
}

/** Upper case: the lower case of a letter can depend on the letters around it. */
function folded(text: string): string {
  // SQLite ends a text at a NUL where it compares.
  return wellFormed(text).normalize('NFC').toUpperCase().replaceAll('\0', '\uFFFD');
}

function valuesIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null || isBlobRef(value)) return [];
  return Object.values(value).flatMap(valuesIn);
}
