/**
 * What a hook returned, as an opinion of its point.
 * Invariant: a word that its point has no use for is refused, so that no hook seems to work that does not;
 * everything is bounded.
 */
import { z } from 'zod';
import type { HookOpinion, HookPoint } from '../../core/state/hook.js';

const MESSAGE_CHARS_MAX = 2_000;
const CONTEXT_CHARS_MAX = 8_192;
const TEXTS_MAX = 20;
const TEXTS_CHARS_MAX = 8_192;

const message = z.string().max(MESSAGE_CHARS_MAX).optional();
const texts = z
  .array(z.string().max(MESSAGE_CHARS_MAX))
  .max(TEXTS_MAX)
  .refine((all) => all.join('').length <= TEXTS_CHARS_MAX, 'are too long together')
  .optional();
const silent = z.strictObject({});

const OPINIONS = {
  SessionStart: z.strictObject({
    additionalContext: z.string().max(CONTEXT_CHARS_MAX).optional(),
    decision: z.literal('deny').optional(),
    message,
  }),
  PreToolUse: z.strictObject({
    decision: z.enum(['allow', 'deny', 'ask']).optional(),
    message,
    updatedInput: z.json().optional(),
  }),
  PostToolUse: silent,
  PostToolUseFailure: silent,
  PostSampling: z.strictObject({ systemMessages: texts }),
  Stop: z.strictObject({
    blockingErrors: texts,
    preventContinuation: z.boolean().optional(),
    message,
  }),
  StopFailure: silent,
  PreCompact: silent,
  SessionEnd: silent,
} satisfies Record<HookPoint, z.ZodType>;

export type ParsedOpinion =
  | { readonly ok: true; readonly opinion: HookOpinion }
  | { readonly ok: false; readonly error: string };

export function parseOpinion(point: HookPoint, returned: unknown): ParsedOpinion {
  if (returned === undefined || returned === null) return { ok: true, opinion: {} };
  try {
    const result = OPINIONS[point].safeParse(returned);
    if (result.success) return { ok: true, opinion: withoutAbsent(result.data) };
    const [issue] = result.error.issues;
    const path = (issue?.path ?? []).join('.');
    const where = path === '' ? '' : `${path}: `;
    return { ok: false, error: `it may not say that: ${where}${issue?.message ?? 'not valid'}` };
  } catch {
    return { ok: false, error: 'what it returned cannot be read' };
  }
}

function withoutAbsent(said: object): HookOpinion {
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
}
