/** Reading JSON of which nothing is known. Total: what is not there, or of another kind, is empty. */
import type { Json } from '../core/json/json.js';

export type JsonRecord = { readonly [key: string]: Json };
export type MutableRecord = Record<string, Json>;

export function isRecord(value: unknown): value is MutableRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function recordAt(record: JsonRecord, key: string): JsonRecord {
  const value = Object.hasOwn(record, key) ? record[key] : undefined;
  return isRecord(value) ? value : {};
}

export function textAt(record: JsonRecord, key: string): string {
  const value = Object.hasOwn(record, key) ? record[key] : undefined;
  return typeof value === 'string' ? value : '';
}

export function listAt(record: JsonRecord, key: string): readonly Json[] {
  const value = Object.hasOwn(record, key) ? record[key] : undefined;
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

/** A count of tokens; what cannot be one is 0. */
export function tokensAt(record: JsonRecord, key: string): number {
  const value = Object.hasOwn(record, key) ? record[key] : undefined;
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
}
