/** Schemas take whatever names no field for an object without fields: a Map would be a budget without a limit. */
import { z } from 'zod';
import { isPlain, isRecord } from '../pure/options.js';

const DEPTH_MAX = 6;

/** As the schema's own `safeParse`; what names no field is an issue at its path. */
export function parseFields<T>(schema: z.ZodType<T>, value: unknown): z.ZodSafeParseResult<T> {
  const parsed = schema.safeParse(value);
  const path = parsed.success ? fieldlessIn(value, DEPTH_MAX) : undefined;
  if (path === undefined) return parsed;
  const message = 'it must be an object of fields';
  const issue = { code: 'custom' as const, path: [...path], message, input: undefined };
  return { success: false, error: new z.ZodError([issue]) as z.ZodError<T> };
}

/** The path of the first one; undefined: there is none. Instances of classes are looked at and not into. */
function fieldlessIn(value: unknown, depth: number): readonly string[] | undefined {
  if (typeof value !== 'object' || value === null || depth === 0) return undefined;
  if (!Array.isArray(value)) {
    if (ArrayBuffer.isView(value)) return undefined;
    if (!isRecord(value)) return [];
    if (!isPlain(value)) return undefined;
  }
  for (const [name, part] of Object.entries(value)) {
    const path = fieldlessIn(part, depth - 1);
    if (path !== undefined) return [name, ...path];
  }
  return undefined;
}
