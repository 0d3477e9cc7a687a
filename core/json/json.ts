/**
 * JSON values, their sizes and digests, and text that may live in the store instead of in a history.
 * Invariants:
 *  - Nothing here is larger than its stated limit once it is in a Run, an Effect or an Event. Sizes are those of JSON in
 *    UTF-8, which a history and a message of the server count.
 *  - Digests are sha256 of canonical JSON (RFC 8785), in pure JavaScript, because the workflow sandbox has no crypto:
 *    equal values give equal digests whatever their key order; the digest of a call binds tool, version and arguments.
 */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils';
import canonicalize from 'canonicalize';

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

/** Values up to this size, as JSON, may lie inline in payloads. */
export const INLINE_BYTES_MAX = 4096;
/** Argument strings above this size are spilled to the blob store. */
export const ARGUMENT_STRING_BYTES_MAX = 2048;
/** What remains of an argument object after spilling must fit this. */
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

/** An activity's input. */
export const PAYLOAD_BYTES_MAX = 48 * 1024;
/** A run on its way into its next segment. */
export const CONTINUE_AS_NEW_BYTES_MAX = 256 * 1024;

/** Most bytes of one UTF-16 unit. */
export const UNIT_BYTES_MAX = 3;

export function jsonBytes(value: unknown): number {
  return utf8ToBytes(JSON.stringify(value)).length;
}

/** Whether the value takes at most so many bytes; encodes it only when its length does not tell. */
export function fitsBytes(value: unknown, bytesMax: number): boolean {
  const text = JSON.stringify(value);
  if (text.length * UNIT_BYTES_MAX <= bytesMax) return true;
  return text.length <= bytesMax && utf8ToBytes(text).length <= bytesMax;
}

/** Most bytes of one UTF-16 unit in JSON: a control character is six letters. */
const ESCAPED_BYTES_MAX = 6;
/** Of any number, of a boolean and of null. */
const SCALAR_BYTES_MAX = 25;

/**
 * Whether the JSON of a value that came as JSON takes at most so many bytes even at worst; false: only its JSON tells.
 * Several times as fast as writing it.
 */
export function surelyFits(value: unknown, bytesMax: number): boolean {
  return roomAfter(value, bytesMax) >= 0;
}

/** What is left of `room` in the worst case; below zero as soon as nothing is left. */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === 'string') return room - ESCAPED_BYTES_MAX * value.length - 2;
  if (typeof value !== 'object' || value === null) return room - SCALAR_BYTES_MAX;
  let left = room - 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      left = roomAfter(item, left - 1);
      if (left < 0) return left;
    }
    return left;
  }
  const parts = value as { readonly [key: string]: unknown };
  // Lists of keys or pairs would take twice as long. What a prototype has makes it too many bytes, never too few.
  for (const key in parts) {
    left = roomAfter(parts[key], left - ESCAPED_BYTES_MAX * key.length - 4);
    if (left < 0) return left;
  }
  return left;
}

/** Whether a text takes at most so many bytes between the quotes of a payload. */
export function textFitsBytes(text: string, bytesMax: number): boolean {
  if (text.length * ESCAPED_BYTES_MAX <= bytesMax) return true;
  return text.length <= bytesMax && jsonBytes(text) - 2 <= bytesMax;
}

/** RFC 8785 form of a JSON value. */
export function canonicalJson(value: Json): string {
  return canonicalize(value) ?? 'null';
}

/** sha256 of a text's UTF-8 bytes, as 64 hex digits. */
export function sha256Hex(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}

export interface DigestedCall {
  readonly tool: string;
  readonly toolVersion: string;
  readonly args: Json;
}

/** `argsHash` of G11: what an approval is bound to. */
export function callDigest(call: DigestedCall): string {
  return sha256Hex(
    canonicalJson({ tool: call.tool, toolVersion: call.toolVersion, args: call.args }),
  );
}

export function digestOf(value: Json): string {
  return sha256Hex(canonicalJson(value));
}
