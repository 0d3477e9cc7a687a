/** Limits, field schemas and tolerances that both recorded formats share. */
import { z } from 'zod';

export const RUNS_MAX = 100_000;
export const MESSAGES_MAX = 10_000;
export const CALLS_MAX = 1_000;
const TEXT_CHARS_MAX = 4_000_000;
const PARTS_MAX = 1_000;

const partSchema = z.object({ type: z.string().max(100), text: z.string().nullish() });

/** A text, or a list of parts of which the texts count. */
export const textSchema = z
  .union([z.string(), z.array(partSchema).max(PARTS_MAX)])
  .transform((text) =>
    typeof text === 'string' ? text : text.map((part) => part.text ?? '').join('\n'),
  )
  .refine((text) => text.length <= TEXT_CHARS_MAX, `longer than ${TEXT_CHARS_MAX} characters`);
export const idSchema = z.string().max(500);
export const argumentsSchema = z.record(z.string().max(1_000), z.unknown());

/** How the tools of both generations begin a refusal; the older recordings have no other mark of it. */
export function isRefusal(content: string): boolean {
  return /^(Error: |Unknown action )/.test(content);
}
