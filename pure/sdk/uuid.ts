/** Ids of messages: made from what a message is about, so that the same message always has the same. */
import { sha256Hex } from '../../core/json/json.js';

/** 128 bits of the digest in the form of a UUID, version 8 (made by rules of our own). */
export function uuidOf(name: string): string {
  const hex = sha256Hex(name);
  const variant = ((Number.parseInt(hex.charAt(16), 16) % 4) + 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
