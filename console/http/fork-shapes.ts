/** Shapes of forks of recorded runs. */
import { z } from 'zod';
import * as shapes from './shapes.js';

const RESULTS_MAX = 20;
const WORDS_CHARS_MAX = 32_000;
const MODEL_CHARS_MAX = 200;

export const forkBody = z.strictObject({
  step: z.number().int().min(1).max(1_000_000_000),
  model: z.string().min(1).max(MODEL_CHARS_MAX).optional().describe('the model that goes on'),
  instructions: shapes.words(WORDS_CHARS_MAX).optional().describe('in place of those of the agent'),
  message: shapes
    .words(WORDS_CHARS_MAX)
    .optional()
    .describe('said by the user before the next request'),
  results: z
    .record(z.string().min(1).max(200), z.string().max(WORDS_CHARS_MAX))
    .refine((all) => Object.keys(all).length <= RESULTS_MAX, `at most ${RESULTS_MAX}`)
    .optional()
    .describe('by call id: what calls that the model has not answered to returned'),
  maxCostMicroUsd: z
    .number()
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('of the fork alone; only lowers what the run was allowed'),
  rules: z.literal('newest').optional().describe('absent: by the rules of the recorded run'),
});
export type ForkBody = z.output<typeof forkBody>;

export const forkStarted = z.object({
  runId: z.string(),
  forked: z.object({ runId: z.string(), step: z.number().int() }),
  state: z.literal('open'),
});

/** What `holdfast fork --json` says of a fork that was played dry. */
export const dryFork = z.object({
  runId: z.string(),
  step: z.number().int(),
  rules: z.number().int(),
  stopReason: z.string(),
  detail: z.string().optional(),
  answer: z.string().optional(),
  waitsFor: z
    .object({ kind: z.string(), tool: z.string().optional(), question: z.string().optional() })
    .optional()
    .describe('a question that only a person can answer ended the fork'),
  wouldExecute: z.array(
    z.object({
      tool: z.string(),
      callId: z.string(),
      args: z.unknown(),
      digest: z.string(),
      asks: z.boolean(),
      repeats: z.object({ step: z.number().int(), callId: z.string() }).optional(),
    }),
  ),
  reads: z.array(z.object({ tool: z.string(), callId: z.string(), from: z.string() })),
  costMicroUsd: z.number().int(),
  totalCostMicroUsd: z.number().int(),
  turns: z.number().int(),
  leftOut: z.array(z.string()),
});
