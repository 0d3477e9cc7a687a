/**
 * What a provider gave, before anything is made of it: anybody may write a provider.
 * Invariant: a reply that passes fits its type and can be stored; one that does not fails as MalformedReply, which
 * names the provider and the first defect. What it says of its usage is judged by itself (reply-usage.ts).
 */
import { z } from 'zod';
import { modelFailure, type ModelReply, type Provider } from '../../providers/provider.js';

const DEFECT_CHARS_MAX = 300;

const anything = z.unknown().refine((value) => value !== undefined, 'is missing');

const block = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('thinking'), text: z.string() }),
  z.object({ type: z.literal('tool_use'), id: z.string(), tool: z.string(), args: anything }),
  z.object({ type: z.literal('tool_result') }),
]);

const reply = z.object({
  blocks: z.array(block),
  stop: z.enum([
    'end_turn',
    'tool_use',
    'max_tokens',
    'stop_sequence',
    'refusal',
    'pause_turn',
    'context_exceeded',
    'unknown',
  ]),
  stopDetail: z.string().optional(),
  refusal: z.string().optional(),
  escalation: z.string().optional(),
  usageSource: z.enum(['reported', 'estimated', 'absent', 'unsent']),
  model: z.string(),
  partial: z.boolean().optional(),
  container: z.object({ id: z.string().max(200), expiresAt: z.number() }).optional(),
  hosted: z
    .array(
      z.object({
        id: z.string(),
        tool: z.string(),
        args: anything,
        isError: z.boolean(),
        result: anything,
      }),
    )
    .optional(),
});

/** Errors: MalformedReply; it may have been paid for in full. */
export function checkedReply(
  given: ModelReply,
  asked: { readonly provider: Pick<Provider, 'name'>; readonly maxTokens: number },
): ModelReply {
  const defect = defectOf(given);
  if (defect === undefined) return given;
  throw modelFailure(
    'MalformedReply',
    `The provider ${asked.provider.name} gave a reply that cannot be used: ${defect.slice(0, DEFECT_CHARS_MAX)}.`,
    {
      receivedInput: true,
      receivedOutputTokensEstimate: asked.maxTokens,
      shouldRetry: true,
      hint: 'Correct the provider: a reply must be a ModelReply.',
    },
  );
}

function defectOf(given: unknown): string | undefined {
  try {
    const { error } = reply.safeParse(given);
    if (error === undefined) return unstorable(given);
    const [issue] = error.issues;
    const path = (issue?.path ?? []).join('.');
    return `${path === '' ? 'it' : path}: ${issue?.message ?? 'not valid'}`;
  } catch (thrown) {
    return `it cannot be read: ${String(thrown)}`;
  }
}

/** It is stored as JSON: no cycle, no BigInt. */
function unstorable(given: unknown): string | undefined {
  try {
    JSON.stringify(given);
    return undefined;
  } catch (thrown) {
    return `it is no JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
}
