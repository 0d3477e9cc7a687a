/**
 * The digests of core/json/json.ts for code that is never replayed: equal for every value, by Node's own SHA-256, which
 * is several times as fast as one in JavaScript.
 */
import { hash } from 'node:crypto';
import { canonicalJson, type DigestedCall, type Json } from '../core/json/json.js';

/** sha256 of a text's UTF-8 bytes, as 64 hex digits. */
export function sha256Hex(text: string): string {
  return hash('sha256', text, 'hex');
}

export function digestOf(value: Json): string {
  return sha256Hex(canonicalJson(value));
}

/** `argsHash` of G11: what an approval is bound to. */
export function callDigest({ tool, toolVersion, args }: DigestedCall): string {
  return digestOf({ tool, toolVersion, args });
}

const digests = new WeakMap<object, string>();

/** `digestOf` of a value that nobody alters, computed once for as long as the value lives. */
export function knownDigestOf(value: Json): string {
  if (typeof value !== 'object' || value === null) return digestOf(value);
  const known = digests.get(value) ?? digestOf(value);
  digests.set(value, known);
  return known;
}
