/**
 * Structured output of judges and reviewers, from a model's text.
 * Invariant: total, whatever a model writes; what is wrong is one bounded sentence that the model is told.
 */
import { z } from 'zod';
import { MEMORY_LIMITS } from '../../core/state/goal/memory.js';
import { defect, parsed, type Output } from '../structured-answer.js';

const BECAUSE_CHARS_MAX = 2_000;
const IDS_MAX = 200;
const MINUTE_MS = 60_000;

const ids = z.array(z.string()).max(IDS_MAX);
const because = z
  .string()
  .trim()
  .min(1)
  .transform((text) => text.slice(0, BECAUSE_CHARS_MAX));

const judgement = z.object({ score: z.number().min(0).max(1), because, evidence: ids });

const step = z.object({
  id: z.string().min(1).max(MEMORY_LIMITS.stepIdChars),
  title: z.string().trim().min(1).max(MEMORY_LIMITS.titleChars),
  status: z.enum(['open', 'doing', 'done', 'dropped']).default('open'),
  note: z.string().max(MEMORY_LIMITS.noteChars).optional(),
});

const review = z.object({
  objective_valid: z.boolean(),
  because,
  approval_needed: z.boolean().nullish(),
  handoff: z.string().min(1).nullish(),
  plan: z.array(step).min(1).max(MEMORY_LIMITS.steps).nullish(),
  pause: z.union([z.number().positive(), z.string()]).nullish(),
  evidence: ids.default([]),
});

export type JudgementOutput = z.output<typeof judgement>;
export type ReviewOutput = Omit<z.output<typeof review>, 'pause'> & { readonly pauseMs?: number };

export function judgementIn(text: string): Output<JudgementOutput> {
  return parsed(judgement, text);
}

/** `handoffTo`: the only agents that it may name. */
export function reviewIn(text: string, handoffTo: readonly string[]): Output<ReviewOutput> {
  const output = parsed(review, text);
  if (!output.ok) return output;
  const { pause, ...value } = output.value;
  if (typeof value.handoff === 'string' && !handoffTo.includes(value.handoff)) {
    const who = handoffTo.length === 0 ? 'nobody' : handoffTo.join(', ');
    return defect(`handoff: the goal can be handed to ${who}`);
  }
  if (pause === undefined || pause === null) return { ok: true, value };
  const pauseMs = typeof pause === 'number' ? Math.ceil(pause * MINUTE_MS) : durationOf(pause);
  return pauseMs === undefined
    ? defect('pause: it must be minutes, or a duration such as "90m", "12h" or "2d"')
    : { ok: true, value: { ...value, pauseMs } };
}

const UNITS_MS: ReadonlyMap<string, number> = new Map([
  ['s', 1_000],
  ['m', MINUTE_MS],
  ['min', MINUTE_MS],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

function durationOf(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,6}(?:\.\d{1,3})?)\s*([a-z]+)$/.exec(text.trim()) ?? [];
  const each = UNITS_MS.get(unit);
  const ms = amount === undefined || each === undefined ? 0 : Math.ceil(Number(amount) * each);
  return ms > 0 ? ms : undefined;
}
