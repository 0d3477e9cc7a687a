/** Values of somebody else's objects as JSON. Total: what is no JSON is left out, or written as text. */
import type { Json } from '../../core/json/json.js';

const DEPTH_MAX = 50;

/** Undefined for what JSON cannot say, and for what is nested too deep. */
export function jsonValue(value: unknown, depthLeft = DEPTH_MAX): Json | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : undefined;
    case 'object':
      return value === null ? null : depthLeft === 0 ? undefined : jsonObject(value, depthLeft);
    default:
      return undefined;
  }
}

function jsonObject(value: object, depthLeft: number): Json | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString();
  if (value instanceof URL) return value.href;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) {
    return (value as readonly unknown[]).map((one) => jsonValue(one, depthLeft - 1) ?? null);
  }
  const entries = Object.entries(value).flatMap(([key, inner]): [string, Json][] => {
    const json = key === '__proto__' ? undefined : jsonValue(inner, depthLeft - 1);
    return json === undefined ? [] : [[key, json]];
  });
  return Object.fromEntries(entries);
}
