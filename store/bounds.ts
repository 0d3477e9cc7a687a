/** Checks at the store's door: names and list sizes. What passes is safe in keys and queries. */
import { HoldfastError } from '../core/state/errors.js';

/** Longest identifier (tenant, run, key, effect …), in characters. */
export const IDENTIFIER_CHARS_MAX = 1024;
/** Most rows that one list query gives. */
export const LIST_ROWS_MAX = 1000;

/**
 * Every given identifier is a text of 1 to 1,024 characters without NUL and unpaired surrogates:
 * SQLite would replace those, and two different keys would become one.
 */
export function checkIdentifiers(identifiers: Readonly<Record<string, string>>): void {
  for (const name in identifiers) {
    const value = identifiers[name];
    if (typeof value === 'string' && value.length > 0 && value.length <= IDENTIFIER_CHARS_MAX) {
      if (!value.includes('\0') && isWellFormed(value)) continue;
    }
    throw new HoldfastError('InvalidRequest', `The ${name} is not a usable identifier.`, {
      hint: `Give a ${name} of 1 to ${IDENTIFIER_CHARS_MAX} characters of valid Unicode without NUL.`,
    });
  }
}

/** Numbers of a query are whole ones: SQLite would compare with others, and PostgreSQL refuses them. */
export function checkWholeNumbers(numbers: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(numbers)) {
    if (Number.isSafeInteger(value)) continue;
    throw new HoldfastError('InvalidRequest', `${name} is not a whole number.`, {
      hint: `Give a whole number up to ${Number.MAX_SAFE_INTEGER} as ${name}.`,
    });
  }
}

export function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}

/** A text as UTF-8 can hold it: each unpaired surrogate has become U+FFFD. */
export function wellFormed(text: string): string {
  return text.toWellFormed();
}

/** A list's limit as a whole number from 1 to LIST_ROWS_MAX. */
export function listLimit(limit: number): number {
  if (!Number.isFinite(limit)) return LIST_ROWS_MAX;
  return Math.min(Math.max(1, Math.floor(limit)), LIST_ROWS_MAX);
}
