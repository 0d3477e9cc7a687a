/** Shapes of the business controls: freezes, and what was done for business objects. */
import { z } from 'zod';
import { FREEZE_PATTERN, FREEZE_TEXT_CHARS_MAX } from '../../pure/freeze.js';
import { id, time } from './shapes.js';
import { notAllowedText } from './texts.js';

const text = z.string();
const said = z
  .string()
  .trim()
  .min(1)
  .max(FREEZE_TEXT_CHARS_MAX)
  .refine((words) => !notAllowedText(words), 'must be readable characters');
const YEAR_MS = 366 * 86_400_000;

const scope = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('tool'),
    pattern: z.string().regex(FREEZE_PATTERN, 'is a name, or a prefix that ends in *'),
  }),
  z.strictObject({ kind: z.literal('agent'), agent: said }),
  z.strictObject({ kind: z.literal('tenant') }),
]);

export const freezeBody = z.strictObject({
  scope,
  reason: said.describe('models that meet the freeze are told'),
  forMs: z.number().int().positive().max(YEAR_MS).optional().describe('ends by itself then'),
});
export const liftBody = z.strictObject({ reason: said.optional() });

export const freezeFacts = {
  id: text,
  scope: z.looseObject({ kind: text }),
  by: text,
  reason: text,
  at: time,
  until: time.optional(),
};

export const freeze = z.object({
  ...freezeFacts,
  lifted: z.object({ at: time, by: text, reason: text.optional() }).optional(),
  inForce: z.boolean(),
});

export const effectsQuery = z.strictObject({
  subject: id.describe('one of the texts that tools say their effects are about'),
  limit: z.coerce.number().int().min(1).max(1_000).default(50),
});

export const effect = z.object({
  runId: text,
  agent: text,
  caller: text.optional(),
  tool: text,
  toolVersion: text,
  key: text,
  at: time,
  state: z.enum(['under_way', 'done', 'in_doubt']),
  amount: z.number().int().optional(),
  customer: text.optional(),
  identity: z.array(text),
  approvedBy: z.array(text),
  /** On what its permission rests: a tool, a policy or the question that was approved. */
  reference: text,
});
