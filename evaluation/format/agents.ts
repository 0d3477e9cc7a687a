/** The agents of a case, to whom they hand over, and what single runs below the one of the case say. */
import { z } from 'zod';
import { HOOK_POINTS } from '../../core/state/hook.js';
import { reply } from './replies.js';
import { budget, inUsdToo, settings } from './settings.js';
import { policyRule } from './tools.js';
import { jsonObject, text, texts, withSomeKey } from './values.js';

export const handoffTo = z
  .array(
    z.union([
      text,
      z.strictObject({
        agent: text,
        filter: z
          .string()
          .regex(/^(all|none|summary|last \d+)$/, 'must be all, none, summary or last N')
          .optional(),
        run: z.enum(['same', 'new']).optional(),
      }),
    ]),
  )
  .min(1);

const agent = z
  .strictObject({
    description: text,
    /** With these it is an agent of its own, with its own policy and settings; without, a role of who starts it. */
    instructions: text,
    model: z.array(reply).min(1),
    tools: texts,
    budget: inUsdToo(budget),
    settings,
    policy: z.array(policyRule),
    /** Points of hooks that it is asked at. */
    hooks: z.array(z.enum(HOOK_POINTS)),
    outputSchema: jsonObject,
    parallel: z.boolean(),
    handoffTo,
    subAgents: texts,
    /** The start of the run brings it along. */
    start: z.literal(true),
  })
  .partial()
  .refine((value) => value.model !== undefined || value.instructions !== undefined, {
    path: ['model'],
    message: 'is needed without instructions',
  });

/** A run by its place below the run of the case: `a1`, `a2:a1`, `h1`. */
const PLACE = /^[ah]\d{1,4}(:[ah]\d{1,4}){0,7}$/;

const otherRun = z.strictObject({ model: z.array(reply).min(1) });

export const agentKeys = {
  /** Tools of the case's agent; absent: all that the case names. */
  offered: texts.optional(),
  agents: withSomeKey(z.record(z.string(), agent)).optional(),
  /** Of the case's agent; absent: everybody to whom nobody hands over. */
  subAgents: texts.optional(),
  handoffTo: handoffTo.optional(),
  runs: withSomeKey(
    z.record(z.string().regex(PLACE, 'must be a place such as a1, a2:a1 or h1'), otherRun),
  ).optional(),
};
