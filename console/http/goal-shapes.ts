/** Shapes of goals: what the desk tells of them, and what people say to them. */
import { z } from 'zod';
import { APPROVAL_POINTS } from '../../core/state/goal/definition.js';
import { MEMORY_LIMITS } from '../../core/state/goal/memory.js';
import { STEER_CHARS_MAX } from '../../core/state/goal/message.js';
import { GOAL_BUDGET_FIELDS } from '../../core/state/goal/terms.js';
import { excerpt } from './excerpt-shape.js';
import { ask, exactWords, id, time, words } from './shapes.js';

const text = z.string();
const whole = z.number().int();
const microUsd = z.number().int().describe('millionths of a US dollar');

export const goal = z.object({
  goalId: text,
  agent: text,
  status: text,
  objective: text.describe('the beginning of a long one'),
  caller: text.optional(),
  startedAt: time,
  updatedAt: time,
  completedAt: time.optional(),
  stopReason: text.optional(),
  detail: text.optional(),
  nextWake: time.optional().describe('of one that sleeps until then'),
  spentMicroUsd: microUsd.optional(),
  budgetMicroUsd: microUsd.optional(),
  lastSeq: whole,
});

const evidenceIds = z.array(text);
const step = z.object({
  id: text,
  title: text,
  status: z.enum(['open', 'doing', 'done', 'dropped']),
  note: text.optional(),
  evidence: evidenceIds.optional(),
  by: text,
  byPerson: z.literal(true).optional(),
  counted: z.literal(true).optional(),
});
const answer = z.object({ answer: text, because: text, evidence: evidenceIds });
const answers = z.object({
  objective_valid: answer,
  progress: answer,
  within_budget: answer,
  done: answer,
  approval_needed: answer,
  compact_or_handoff: answer,
});

/** Plan and all that came of it. */
const record = z.object({
  plan: z.object({ revision: whole, steps: z.array(step) }),
  state: z.record(text, z.object({ value: z.unknown(), cycle: whole })),
  notes: z.array(
    z.object({
      cycle: whole,
      by: text,
      text,
      evidence: evidenceIds.optional(),
      superseded: z.literal(true).optional(),
    }),
  ),
  log: z.array(
    z.object({ at: time, cycle: whole, kind: text, text, evidence: evidenceIds.optional() }),
  ),
  measurements: z.record(text, z.array(z.object({ at: time, cycle: whole, value: z.number() }))),
  reviews: z.array(z.object({ n: whole, at: time, cycle: whole, answers, decision: text })),
  childRuns: z.array(
    z.object({
      n: whole,
      runId: text,
      agent: text,
      stopReason: text,
      detail: text.optional(),
      costMicroUsd: microUsd,
    }),
  ),
  ancestors: z.array(text).describe('goals that it goes on with'),
});

const limit = z.union([z.number(), z.literal('unlimited')]);
const view = z
  .looseObject({
    status: text,
    cycles: whole,
    cycle: z.object({ n: whole, runId: text, agent: text }).optional(),
    reviews: whole,
    checkpoints: whole,
    done: z.array(
      z.object({
        condition: text,
        verdict: z.enum(['held', 'not_held', 'unknown', 'not_asked']),
      }),
    ),
    budget: z.looseObject({ maxCostMicroUsd: microUsd, maxCycles: limit }).optional(),
    spentMicroUsd: microUsd,
    reservedMicroUsd: microUsd,
    sleep: z.object({ until: time.optional(), because: text }).optional(),
    paused: z.object({ by: text }).optional(),
    unreadMessages: whole,
  })
  .describe('as the goal itself tells it; absent while no worker answers, and when it has ended');

export const goalDetail = goal.extend({
  /** Whole; absent: the store has lost the definition. */
  definition: z
    .looseObject({
      objective: text,
      constraints: z.array(text).optional(),
      done: z.unknown(),
      validation: z.array(z.looseObject({ name: text })).optional(),
      approval: z
        .array(z.looseObject({ before: z.enum(APPROVAL_POINTS), roles: z.array(text) }))
        .optional(),
    })
    .optional(),
  view: view.optional(),
  record: record.optional(),
  result: z.unknown().optional(),
  pending: z.array(ask),
  /** Of the open cycle. */
  pendingOfCycle: z.array(ask),
  temporalUrl: text.optional(),
});

export const brief = z.object({
  n: whole.optional().describe('absent: of a cycle that has not begun'),
  runId: text.optional(),
  agent: text.optional(),
  hash: text,
  tokens: whole.optional().describe('estimated'),
  sections: z.record(text, z.number()).describe('estimated tokens, by section'),
  task: text,
  context: z
    .array(z.object({ origin: text, cycle: whole, by: text, text }))
    .describe('quoted as data: untrusted'),
});

export const evidence = z.object({
  id: text,
  kind: z.enum(['call', 'check', 'effect', 'ask']),
  runId: text.describe('the run whose event it is: a cycle, or the goal'),
  cycle: whole.optional(),
  at: time.optional(),
  seq: whole.optional(),
  tool: text.optional(),
  args: z.unknown().optional(),
  content: excerpt.optional(),
  ledger: z
    .object({
      key: text,
      state: z.enum(['claimed', 'recorded', 'void']),
      attempt: whole,
      tool: text,
      source: text.optional(),
    })
    .optional(),
  check: z
    .object({
      name: text,
      n: whole,
      known: z.boolean(),
      value: z.number().optional(),
      best: z.number().optional(),
      because: text.optional(),
      digest: text.optional(),
    })
    .optional(),
  ask: z
    .object({
      askId: text,
      question: text.optional(),
      outcome: text,
      by: z.array(text),
      reason: text.optional(),
    })
    .optional(),
});

export const told = z.object({
  goalId: text,
  messageId: text,
  /** `sent`: no worker answered, or the goal looks at it in its next segment; whether it counts, the goal's events tell. */
  state: z.enum(['taken', 'sent']),
  message: text.optional(),
  storeAway: z.literal(true).optional(),
});

export const nothing = z.strictObject({});
export const steerBody = z.strictObject({
  text: words(STEER_CHARS_MAX),
  wake: z.boolean().optional().describe('ends a sleep as well'),
});
export const reviewBody = z.strictObject({
  objectiveValid: z.boolean().optional().describe('a word on the objective, which stands'),
  because: words(2_000).optional(),
});
const positive = z.number().int().positive().max(Number.MAX_SAFE_INTEGER).optional();
const amounts = Object.fromEntries(GOAL_BUDGET_FIELDS.map((name) => [name, positive])) as {
  readonly [name in (typeof GOAL_BUDGET_FIELDS)[number]]: typeof positive;
};
export const budgetBody = z.strictObject({
  budget: z
    .strictObject(amounts)
    .refine((given) => Object.keys(given).length > 0, 'must name a limit'),
});
const { steps: stepsMax, stepIdChars, titleChars, noteChars, evidenceIds: idsMax } = MEMORY_LIMITS;
export const planBody = z.strictObject({
  steps: z
    .array(
      z.strictObject({
        id: words(stepIdChars),
        title: exactWords(titleChars),
        status: z.enum(['open', 'doing', 'done', 'dropped']).default('open'),
        note: exactWords(noteChars).optional(),
        evidence: z.array(id).max(idsMax).optional(),
      }),
    )
    .max(stepsMax),
  revision: whole.min(0).optional().describe('of the plan that was looked at'),
});
const YEAR_MS = 366 * 86_400_000;
export const paceBody = z.strictObject({
  pace: z.union([
    z.enum(['continuous', 'when_woken']),
    z.strictObject({ everyMs: whole.positive().max(YEAR_MS) }),
    z.strictObject({ cron: words(200), timezone: words(64) }),
  ]),
});
