/**
 * The part of a fixture that makes it a case of a goal.
 * Invariant: keys are a closed list here; whether the definition makes sense is for the runtime to say, as it does to
 * people, so that a case can expect its refusal.
 */
import { z } from 'zod';
import { reply } from './replies.js';
import { budget, inUsdToo, settings } from './settings.js';
import { toolResult } from './tools.js';
import {
  chosen,
  duration,
  hasKey,
  natural,
  positive,
  text,
  texts,
  usage,
  withSomeKey,
} from './values.js';

const amount = z.number();

const condition = withSomeKey(
  z
    .strictObject({
      check: text,
      path: text,
      state: text,
      plan: z.literal('complete'),
      judge: text,
      rubric: z.string(),
      atLeast: amount,
      person: z.strictObject({ roles: texts, question: z.string() }),
      equals: z.unknown(),
      lte: amount,
      gte: amount,
      exists: z.boolean(),
    })
    .partial(),
);

const done = z.strictObject({ all: z.array(condition), any: z.array(condition) }).partial();

const check = z.strictObject({
  name: text,
  tool: text.optional(),
  input: z.unknown().optional(),
  timeoutMs: amount.optional(),
  measure: z.strictObject({ path: text, better: z.enum(['higher', 'lower']) }).optional(),
});

const judge = { model: text.optional(), instructions: z.string().optional() };

const goalBudget = z
  .strictObject({
    maxCostMicroUsd: amount,
    maxCycles: amount,
    deadlineMs: amount,
    maxModelCalls: amount,
    maxToolCalls: amount,
    maxInputTokens: amount,
    maxOutputTokens: amount,
    hardMaxCostMicroUsd: amount,
    onBudget: z.enum(['stop', 'ask']),
    budgetRoles: texts,
  })
  .partial();

const pace = chosen<
  | 'continuous'
  | 'when_woken'
  | { readonly everyMs: number }
  | { readonly cron: string; readonly timezone: string }
>((value) => {
  if (typeof value !== 'object') return z.enum(['continuous', 'when_woken']);
  return hasKey(value, 'everyMs')
    ? z.strictObject({ everyMs: amount })
    : z.strictObject({ cron: text, timezone: text });
});

const approval = z.strictObject({
  before: text,
  roles: texts,
  quorum: amount.optional(),
  expiresInMs: amount.optional(),
  onExpiry: z.enum(['reject', 'stop']).optional(),
});

const stopRules = z
  .strictObject({
    objectiveInvalid: z.enum(['needs_human', 'completed']),
    noProgressCycles: amount,
    failedCycles: amount,
    blockedCycles: amount,
    noMeasureCycles: amount,
    onStuck: z.enum(['stop', 'ask']),
  })
  .partial();

export const goalLoop = z
  .strictObject({
    constraints: texts,
    agent: text,
    handoffTo: texts,
    done,
    validation: z.array(check),
    judges: z.record(z.string(), z.strictObject(judge)),
    reviewer: z.strictObject({ ...judge, roles: texts.optional() }),
    budget: inUsdToo(goalBudget),
    cycle: inUsdToo(z.strictObject({ ...budget.shape, ...settings.shape }).partial()),
    minCycleMicroUsd: amount,
    roundMicroUsd: amount,
    briefTokens: amount,
    reviewEvery: z
      .strictObject({ cycles: amount, turns: amount, minutes: amount, costMicroUsd: amount })
      .partial(),
    pace,
    approval: z.array(approval),
    stopRules,
    agentVersion: z.enum(['latest', 'pinned']),
    unavailableMs: amount,
    closeMs: amount,
    maxAskedPauseMs: amount,
  })
  .partial();

export const planStep = z.strictObject({
  id: text,
  title: z.string().optional(),
  status: z.enum(['open', 'doing', 'done', 'dropped']).optional(),
  note: z.string().optional(),
  evidence: texts.optional(),
});

/** No answer that counts: the request fails, or says nothing in the form that was wanted. */
const failed = z.strictObject({ error: text });

/** An empty one says that all may go on. */
const givenReview = z
  .strictObject({
    objective_valid: z.boolean(),
    approval_needed: z.boolean(),
    handoff: text,
    plan: z.array(planStep),
    pause: duration,
    because: z.string(),
    evidence: texts,
    usage,
  })
  .partial();

const givenJudgement = z.strictObject({
  score: amount,
  because: z.string().optional(),
  evidence: texts.optional(),
  usage: usage.optional(),
});

export type WrittenReview = z.infer<typeof givenReview> | z.infer<typeof failed>;
export type WrittenJudgement = z.infer<typeof givenJudgement> | z.infer<typeof failed>;

const review = chosen<WrittenReview>((value) => (hasKey(value, 'error') ? failed : givenReview));
const judgement = chosen<WrittenJudgement>((value) =>
  hasKey(value, 'error') ? failed : givenJudgement,
);

const cycle = z.strictObject({ model: z.array(reply), agent: text.optional() });

/** Keys of the top level that only a case of a goal has. */
export const goalKeys = {
  goalLoop: goalLoop.optional(),
  checks: withSomeKey(z.record(z.string(), z.array(toolResult).min(1))).optional(),
  cycles: z.array(cycle).min(1).optional(),
  reviews: z.array(review).min(1).optional(),
  judges: withSomeKey(z.record(z.string(), z.array(judgement).min(1))).optional(),
};

const setBudget = withSomeKey(
  z
    .strictObject({
      maxCostMicroUsd: natural,
      maxCycles: natural,
      maxModelCalls: natural,
      maxToolCalls: natural,
      maxInputTokens: natural,
      maxOutputTokens: natural,
    })
    .partial(),
);

/** What is said to a goal; `review` may carry a word on the objective. */
export const GOAL_ACTIONS = {
  steer: text,
  pause: z.literal(true),
  resume: z.literal(true),
  wake: z.literal(true),
  review: z.union([
    z.literal(true),
    withSomeKey(z.strictObject({ objectiveValid: z.boolean(), because: z.string() }).partial()),
  ]),
  stop: z.literal(true),
  setBudget,
  setPlan: z.array(planStep),
};

export const GOAL_EVENT_NAMES = [
  'goal_started',
  'cycle_started',
  'cycle_ended',
  'check_finished',
  'plan_changed',
  'progress_noted',
  'checkpoint_saved',
  'goal_sleeping',
  'goal_woken',
  'goal_steered',
  'handoff',
  'goal_result',
  'warning',
] as const;

/** Narrows an event to one check, one cycle or the cycles of one agent. */
export const goalPatternKeys = {
  check: text.optional(),
  cycle: positive.optional(),
  agent: text.optional(),
};
