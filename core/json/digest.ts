/**
 * Canonical JSON (RFC 8785) and sha256 in pure JavaScript, because the workflow sandbox has no crypto.
 * Invariants: equal values give equal digests whatever their key order; the digest of a call binds tool,
 * version and arguments (G11).
 */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils';
import canonicalize from 'canonicalize';
import type { Json } from './json.js';

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

/** `argsHash` of vocabulary and G11: what an approval is bound to. */
export function callDigest(call: DigestedCall): string {
  return sha256Hex(
    canonicalJson({ tool: call.tool, toolVersion: call.toolVersion, args: call.args }),
  );
}

export function digestOf(value: Json): string {
  return sha256Hex(canonicalJson(value));
}
