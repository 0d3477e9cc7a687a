/** What a definition of a goal looks like, field by field; what fields say of each other is in normal-goal.ts. */
import { z } from 'zod';
import {
  APPROVAL_POINTS,
  type CheckDefinition,
  type DoneCondition,
  type GoalApproval,
  type GoalBudget,
  type GoalDefinition,
  type JudgeDefinition,
  type ReviewerDefinition,
  type ReviewEvery,
  type StopRules,
} from '../../core/state/goal/definition.js';
import {
  anyRoles,
  closed,
  duration,
  INPUT_BYTES_MAX,
  json,
  list,
  microUsd,
  name,
  oneOf,
  path,
  roles,
  share,
  whole,
  words,
  YEAR_MS,
} from './field.js';
import { pace } from './pace.js';
import { isRecord } from '../../pure/options.js';

const OBJECTIVE_CHARS_MAX = 16_000;
const TEXT_CHARS_MAX = 16_000;
const RUBRIC_CHARS_MAX = 4_000;
const QUESTION_CHARS_MAX = 1_000;
const HANDOFFS_MAX = 20;
const CONDITIONS_MAX = 50;
const CHECKS_MAX = 20;
const JUDGES_MAX = 5;
const CONSTRAINTS_MAX = 100;
const HOUR_MS = 3_600_000;
const QUORUM_MAX = 20;
const STREAK_MAX = 10_000;
/** Longer goals go on by `restartGoal`. */
const DEADLINE_MS_MAX = 10 * YEAR_MS;

const PREDICATE = ['equals', 'lte', 'gte', 'exists'] as const;
const bound = z.number('it must be a number').optional();
const predicate = {
  equals: json(INPUT_BYTES_MAX).optional(),
  lte: bound,
  gte: bound,
  exists: z.boolean('it must be true or false').optional(),
};

function compares<T extends z.ZodType>(condition: T) {
  return condition.refine(
    (value) => PREDICATE.some((key) => (value as Record<string, unknown>)[key] !== undefined),
    'it compares with nothing; give equals, lte, gte or exists',
  );
}

type Of<Kind extends string> = Extract<DoneCondition, { readonly [key in Kind]: unknown }>;

const CONDITIONS = {
  check: compares(
    closed<Of<'check'>>({
      check: name,
      path: path.optional(),
      ...predicate,
    }),
  ),
  state: compares(closed<Of<'state'>>({ state: path, ...predicate })),
  plan: closed<Of<'plan'>>({ plan: z.literal('complete', "it must be 'complete'") }),
  judge: closed<Of<'judge'>>({
    judge: name,
    rubric: words(RUBRIC_CHARS_MAX),
    atLeast: share(),
  }),
  person: closed<Of<'person'>>({
    person: closed<Of<'person'>['person']>({ roles, question: words(QUESTION_CHARS_MAX) }),
  }),
};
const KINDS = Object.keys(CONDITIONS) as (keyof typeof CONDITIONS)[];

/** By its first key, so that what is wrong is told of the condition that is meant. */
const condition = z.unknown().transform((value, context): unknown => {
  const kinds = isRecord(value) ? KINDS.filter((kind) => Object.hasOwn(value, kind)) : [];
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    context.issues.push({
      code: 'custom',
      input: value,
      message: `it must be a condition with exactly one of ${KINDS.join(', ')}`,
    });
    return z.NEVER;
  }
  const result = CONDITIONS[kind].safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) {
    context.issues.push({ code: 'custom', input: value, path: issue.path, message: issue.message });
  }
  return z.NEVER;
});
const conditions = list(condition, [1, CONDITIONS_MAX]);
const DONE = 'it must be {all: […]} or {any: […]}';

/** A goal without a condition could never be done. */
const done = z
  .strictObject({ all: conditions.optional(), any: conditions.optional() }, DONE)
  .refine(({ all, any }) => (all === undefined) !== (any === undefined), DONE);

const check = closed<CheckDefinition>({
  name,
  tool: words(128).optional(),
  input: json(INPUT_BYTES_MAX).optional(),
  timeoutMs: whole(1, HOUR_MS).optional(),
  measure: closed<NonNullable<CheckDefinition['measure']>>({
    path,
    better: oneOf(['higher', 'lower']),
  }).optional(),
});

const judge = {
  model: words(200).optional(),
  instructions: words(TEXT_CHARS_MAX).optional(),
};

export const goalBudget = closed<GoalBudget>({
  maxCostMicroUsd: microUsd,
  maxCycles: whole(1).optional(),
  deadlineMs: whole(1, DEADLINE_MS_MAX).optional(),
  maxModelCalls: whole(1).optional(),
  maxToolCalls: whole(1).optional(),
  maxInputTokens: whole(1).optional(),
  maxOutputTokens: whole(1).optional(),
  hardMaxCostMicroUsd: microUsd.optional(),
  onBudget: oneOf(['stop', 'ask']).optional(),
  budgetRoles: anyRoles.optional(),
});

const EVERY = 'it must say how often: cycles, turns, minutes or costMicroUsd';
const reviewEvery = closed<ReviewEvery>({
  cycles: whole(1).optional(),
  turns: whole(1).optional(),
  minutes: whole(1).optional(),
  costMicroUsd: microUsd.optional(),
}).refine((value) => Object.values(value).some((one) => one !== undefined), EVERY);

const approval = closed<GoalApproval>({
  before: oneOf(APPROVAL_POINTS),
  roles,
  quorum: whole(1, QUORUM_MAX).optional(),
  expiresInMs: duration.optional(),
  onExpiry: oneOf(['reject', 'stop']).optional(),
});

const streak = whole(1, STREAK_MAX).optional();
const stopRules = closed<StopRules>({
  objectiveInvalid: oneOf(['needs_human', 'completed']).optional(),
  noProgressCycles: streak,
  failedCycles: streak,
  blockedCycles: streak,
  noMeasureCycles: streak,
  onStuck: oneOf(['stop', 'ask']).optional(),
});

export const goalSchema = closed<GoalDefinition>({
  objective: words(OBJECTIVE_CHARS_MAX),
  constraints: list(words(2_000), [0, CONSTRAINTS_MAX]).optional(),
  agent: name,
  handoffTo: list(name, [0, HANDOFFS_MAX]).optional(),
  done,
  validation: list(check, [0, CHECKS_MAX]).optional(),
  judges: z
    .record(name, closed<JudgeDefinition>(judge), 'it must be an object of judges by name')
    .refine(
      (value) => Object.keys(value).length <= JUDGES_MAX,
      `it has more than ${JUDGES_MAX} judges`,
    )
    .optional(),
  reviewer: closed<ReviewerDefinition>({ ...judge, roles: roles.optional() }).optional(),
  budget: goalBudget,
  cycle: z.custom(isRecord, 'it must be an object').optional(),
  minCycleMicroUsd: microUsd.optional(),
  roundMicroUsd: whole(0).optional(),
  briefTokens: whole(500, 200_000).optional(),
  reviewEvery: reviewEvery.optional(),
  pace: pace.optional(),
  approval: list(approval, [0, APPROVAL_POINTS.length]).optional(),
  stopRules: stopRules.optional(),
  agentVersion: oneOf(['latest', 'pinned']).optional(),
  unavailableMs: duration.optional(),
  closeMs: duration.optional(),
  maxAskedPauseMs: duration.optional(),
});
