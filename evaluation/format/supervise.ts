/** The supervisor of a case: when it looks, and what it says at each look. */
import { z } from 'zod';
import { WATCHED_EVENTS } from '../../core/state/supervision.js';
import { chosen, hasKey, positive, text, texts, usage } from './values.js';

const failed = z.strictObject({ error: text });
/** Model text that is no answer of the form. */
const unreadable = z.strictObject({ answer: z.string(), usage: usage.optional() });
const said = z.strictObject({
  decision: z.enum(['go_on', 'steer', 'interrupt', 'ask']),
  because: text.optional(),
  text: text.optional(),
  usage: usage.optional(),
});

type Written = z.infer<typeof failed> | z.infer<typeof unreadable> | z.infer<typeof said>;

const look = chosen<Written>((value) => {
  if (hasKey(value, 'error')) return failed;
  return hasKey(value, 'answer') ? unreadable : said;
});

export const supervise = z
  .strictObject({
    name: text.optional(),
    every: z.strictObject({ turns: positive }).optional(),
    on: z.array(z.enum(WATCHED_EVENTS)).min(1).optional(),
    roles: texts.optional(),
    /** The last one repeats. */
    says: z.array(look).min(1),
  })
  .refine(({ every, on }) => every !== undefined || on !== undefined, {
    message: 'needs every or on',
  });
