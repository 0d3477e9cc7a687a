/** What the scripted model says: answers, failures, repetitions. */
import { z } from 'zod';
import { chosen, hasKey, natural, positive, text, usage, when, withSomeKey } from './values.js';

const OUTPUT_PATH = /^(state\.)?[A-Za-z_][\w-]*(\.[A-Za-z_][\w-]*)*$/;

export const call = z
  .strictObject({
    id: text,
    tool: text,
    input: z.unknown().optional(),
    rawInput: z.string().optional(),
    incomplete: z.literal(true).optional(),
    outputPath: z.string().regex(OUTPUT_PATH, 'must be a dotted path of names').optional(),
    dependsOn: z.array(text).min(1).optional(),
    when: when.optional(),
  })
  .refine(
    (value) => ['incomplete', 'input', 'rawInput'].some((key) => hasKey(value, key)),
    'needs input or rawInput, or incomplete: true',
  )
  .refine(
    (value) => !(hasKey(value, 'input') && hasKey(value, 'rawInput')),
    'has both input and rawInput',
  );

const calls = z.array(call).min(1);

export const answer = withSomeKey(
  z
    .strictObject({
      text: z.string(),
      calls,
      stopReason: text,
      stopSequence: text,
      usage,
      output: z.unknown(),
      refuse: text,
      escalate: text,
      thinking: z.string(),
      delayMs: natural,
      chunks: positive,
    })
    .partial(),
);

const HTTP_STATUSES = [429, 500, 503, 529, 401, 400, 413, 408] as const;

const httpError = z.strictObject({
  status: z.literal(HTTP_STATUSES),
  type: text.optional(),
  retryAfterSeconds: z.number().min(0).optional(),
});
const otherError = z.strictObject({
  kind: z.enum(['network_timeout', 'prompt_too_long', 'connection_reset']),
});

const modelError = chosen<z.infer<typeof httpError> | z.infer<typeof otherError>>((value) =>
  hasKey(value, 'status') ? httpError : otherError,
);

const failure = z.strictObject({
  error: modelError,
  after: withSomeKey(z.strictObject({ text: z.string(), calls }).partial()).optional(),
  delayMs: natural.optional(),
});

export type WrittenCall = z.infer<typeof call>;
export type WrittenAnswer = z.infer<typeof answer>;
export type WrittenFailure = z.infer<typeof failure>;
export type WrittenReply =
  WrittenAnswer | WrittenFailure | { readonly repeat: number; readonly reply: WrittenReply };

export const reply: z.ZodType<WrittenReply> = chosen<WrittenReply>((value) => {
  if (hasKey(value, 'error')) return failure;
  return hasKey(value, 'repeat') ? repetition : answer;
});

const repetition = z.strictObject({ repeat: positive, reply: z.lazy(() => reply) });
