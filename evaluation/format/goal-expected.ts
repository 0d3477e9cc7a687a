/** What a case of a goal can expect beside what every case can. */
import { z } from 'zod';
import {
  count,
  jsonObject,
  natural,
  positive,
  someTexts,
  text,
  texts,
  withSomeKey,
} from './values.js';

const cycleResult = withSomeKey(
  z
    .strictObject({ stop_reason: text, detail: text, cost_micro_usd: count, progress: z.boolean() })
    .partial(),
);

const evidence = z.union([count, texts]);

const step = withSomeKey(
  z
    .strictObject({
      id: text,
      title: text,
      status: z.enum(['open', 'doing', 'done', 'dropped']),
      note: text,
      by: text,
      evidence,
    })
    .partial(),
);

const condition = z.strictObject({ held: z.boolean(), evidence: count.optional() });

const brief = z
  .strictObject({ contains: someTexts, notContains: someTexts, maxChars: positive })
  .partial();

const logEntry = withSomeKey(
  z
    .strictObject({
      cycle: natural,
      kind: z.enum(['cycle', 'check', 'progress', 'review', 'note', 'person']),
      /** A part of it. */
      text,
      evidence,
    })
    .partial(),
);

export const ofGoal = {
  cycles: count,
  reviews: count,
  checkpoints: count,
  checks: count,
  cycle_results: z.array(cycleResult).min(1),
  plan: z.array(step).min(1),
  state: withSomeKey(jsonObject),
  done: z.array(condition).min(1),
  briefs: z.array(brief).min(1),
  agents: someTexts,
  slept_ms: count,
  progress_log: z.array(logEntry).min(1),
};

export type WantedCycle = z.infer<typeof cycleResult>;
export type WantedStep = z.infer<typeof step>;
export type WantedBrief = z.infer<typeof brief>;
export type WantedLogEntry = z.infer<typeof logEntry>;
export type WantedCondition = z.infer<typeof condition>;
