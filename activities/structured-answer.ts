/**
 * Structured answers in a model's text.
 * Invariant: total, whatever a model writes; what is wrong is one bounded sentence that the model is told.
 */
import { z } from 'zod';

const ANSWER_CHARS_MAX = 100_000;
const DEFECT_CHARS_MAX = 500;

export type Output<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly defect: string };

export function parsed<T>(schema: z.ZodType<T>, text: string): Output<T> {
  if (text.length > ANSWER_CHARS_MAX) return defect('it is too long');
  let value: unknown;
  try {
    value = JSON.parse(unfenced(text));
  } catch {
    return defect('it is not JSON');
  }
  const result = schema.safeParse(value);
  return result.success ? { ok: true, value: result.data } : defect(z.prettifyError(result.error));
}

export function defect(words: string): { readonly ok: false; readonly defect: string } {
  return { ok: false, defect: words.replaceAll(/\s+/g, ' ').slice(0, DEFECT_CHARS_MAX) };
}

/** Models like to put JSON between fences. */
function unfenced(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```')) return trimmed;
  const afterFirst = trimmed.indexOf('\n');
  return afterFirst === -1 ? trimmed : trimmed.slice(afterFirst + 1, -3);
}
