/**
 * JSON values, and text that may live in the store instead of in a history.
 * Invariant: nothing here is larger than its stated limit once it is in a Run, an Effect or an Event.
 */
export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A large text kept in the blob store, by sha256 (hex) of its UTF-8 bytes. */
export interface BlobRef {
  readonly $blob: string;
  readonly bytes: number;
}

/** A text, inline when it is at most INLINE_BYTES_MAX, else by reference with its first characters. */
export type StoredText = ({ readonly text: string } | (BlobRef & { readonly preview: string })) & {
  /** It is the JSON of a value that is no text; said only where the type of a value matters (dataflow). */
  readonly json?: true;
};

/** Values up to this size, as JSON, may lie inline in payloads (design §7). */
export const INLINE_BYTES_MAX = 4096;
/** Argument strings above this size are spilled to the blob store (design §7). */
export const ARGUMENT_STRING_BYTES_MAX = 2048;
/** What remains of an argument object after spilling must fit this (design §7). */
export const ARGUMENTS_BYTES_MAX = 16_384;
export const PREVIEW_CHARS = 200;

export function isBlobRef(value: unknown): value is BlobRef {
  if (typeof value !== 'object' || value === null) return false;
  const ref = value as { $blob?: unknown; bytes?: unknown };
  return typeof ref.$blob === 'string' && typeof ref.bytes === 'number';
}

/** What can be shown of a text without the store. */
export function previewOf(stored: StoredText): string {
  return 'text' in stored ? stored.text : `${stored.preview}…`;
}

/** Says nothing; a text in the store always says something. */
export function isBlank(stored: StoredText | undefined): boolean {
  return stored === undefined || ('text' in stored && stored.text.trim() === '');
}

/** Own property of a plain object by a name from outside; never a prototype's (style point 6). */
export function ownValue<T>(record: { readonly [key: string]: T }, key: string): T | undefined {
  return Object.prototype.hasOwnProperty.call(record, key) ? record[key] : undefined;
}
