/** Of values as the API gives them: which are references, and what they are on one line. Pure. */
import type { Excerpt } from '../data/api-types.js';
import type { StoredText } from '../../../core/json/json.js';

export interface Blob {
  readonly $blob: string;
  readonly bytes: number;
}

/** A large text that only its hash stands for. */
export function isBlob(value: unknown): value is Blob {
  return typeof value === 'object' && value !== null && '$blob' in value && 'bytes' in value;
}

/** A text as it is, anything else as JSON. */
export function textOfJson(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Names and values. */
export function oneLine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  if (Array.isArray(value) || isBlob(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, part]) => `${name}: ${typeof part === 'string' ? part : JSON.stringify(part)}`)
    .join(', ');
}

export function excerptOf(stored: StoredText): Excerpt {
  if ('text' in stored) return { text: stored.text };
  return { text: stored.preview, blob: stored.$blob, bytes: stored.bytes };
}

/** The object or list that a text is as JSON. */
export function objectIn(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}
