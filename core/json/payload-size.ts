/**
 * Sizes of payloads, as JSON in UTF-8: what a history and a message of the server count (design §7).
 * Invariant: nothing larger than its limit is handed to the shell; what does not fit is split or stored
 * first, and what cannot be is a typed stop, never a workflow task that fails over and over.
 */
import { utf8ToBytes } from '@noble/hashes/utils';

/** An activity's input. */
export const PAYLOAD_BYTES_MAX = 48 * 1024;
/** A run on its way into its next segment. */
export const CONTINUE_AS_NEW_BYTES_MAX = 256 * 1024;

/** Most bytes of one UTF-16 unit. */
const UNIT_BYTES_MAX = 3;

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

/** Whether a text takes at most so many bytes between the quotes of a payload. */
export function textFitsBytes(text: string, bytesMax: number): boolean {
  if (text.length * ESCAPED_BYTES_MAX <= bytesMax) return true;
  return text.length <= bytesMax && jsonBytes(text) - 2 <= bytesMax;
}
