/**
 * `context_management` of Anthropic's API: edits by which the vendor leaves old parts of a conversation out of a request.
 * Invariant: only edits are taken that make a request smaller; the whole conversation stays its bound.
 */
import { z } from 'zod';
import type { Json } from '../core/json/json.js';
import { HoldfastError } from '../core/state/errors.js';
import { parseFields } from './parse-fields.js';

const count = (least: number) => z.int().min(least).max(100_000_000);
const names = z.array(z.string().min(1).max(200)).max(200);

const clearToolUses = z.strictObject({
  type: z.literal('clear_tool_uses_20250919'),
  trigger: z
    .strictObject({ type: z.enum(['input_tokens', 'tool_uses']), value: count(1) })
    .optional(),
  keep: z.strictObject({ type: z.literal('tool_uses'), value: count(0) }).optional(),
  clear_at_least: z.strictObject({ type: z.literal('input_tokens'), value: count(0) }).nullish(),
  clear_tool_inputs: z.union([z.boolean(), names]).nullish(),
  exclude_tools: names.nullish(),
});

const clearThinking = z.strictObject({
  type: z.literal('clear_thinking_20251015'),
  keep: z
    .union([
      z.literal('all'),
      z.strictObject({ type: z.literal('all') }),
      z.strictObject({ type: z.literal('thinking_turns'), value: count(1) }),
    ])
    .optional(),
});

const CLEARING = ['clear_thinking_20251015', 'clear_tool_uses_20250919'] as const;
const COMPACTION = /^compact_/;

const shape = z.strictObject({
  edits: z
    .array(z.discriminatedUnion('type', [clearThinking, clearToolUses]))
    .min(1)
    .refine(inOrder, `give each edit once, ${CLEARING[0]} first`),
});

/** The vendor takes no other order. */
function inOrder(edits: readonly { readonly type: (typeof CLEARING)[number] }[]): boolean {
  const places = edits.map(({ type }) => CLEARING.indexOf(type));
  return places.every((place, at) => at === 0 || place > places[at - 1]!);
}

/** Errors: InvalidConfig. */
export function checkContextManagement(given: Json, place: string): void {
  const compaction = typesIn(given).find((type) => COMPACTION.test(type));
  if (compaction !== undefined) {
    throw unusable(
      `${place} asks for ${compaction.slice(0, 60)}: the vendor then asks its model once more, which no bound of a request counts.`,
      `Leave it out; long conversations are summarised by the runtime. ${CLEARING.join(' and ')} are taken.`,
    );
  }
  const { error } = parseFields(shape, given);
  if (error === undefined) return;
  const [issue] = error.issues;
  const where = [place, ...(issue?.path ?? []).map(String)].join('.').slice(0, 200);
  throw unusable(
    `${where} cannot be used: ${(issue?.message ?? 'no edits').slice(0, 200)}.`,
    `Give { edits: [ … ] } with edits of the types ${CLEARING.join(' and ')}, as Anthropic describes them.`,
  );
}

function typesIn(given: Json): readonly string[] {
  const edits = isFields(given) ? given['edits'] : undefined;
  if (!Array.isArray(edits)) return [];
  return (edits as readonly Json[]).flatMap((edit) => {
    const type = isFields(edit) ? edit['type'] : undefined;
    return typeof type === 'string' ? [type] : [];
  });
}

function isFields(value: Json): value is { readonly [field: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unusable(what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidConfig', `The configuration cannot be used. ${what}`, { hint });
}
