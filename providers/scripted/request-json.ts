/** Reading requests as far as scripts need them. Total over any JSON. */
import type { Json } from '../../core/json/json.js';

export type JsonObject = { readonly [key: string]: Json };

export function parsedObject(body: string): JsonObject | undefined {
  try {
    return objectOf(JSON.parse(body) as Json);
  } catch {
    return undefined;
  }
}

export function objectOf(value: Json | undefined): JsonObject | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as JsonObject;
}

export function stringOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}
