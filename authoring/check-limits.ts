/**
 * Budgets and settings as people write them, checked. Used where an agent is defined and
 * again where a run is opened, because a start comes from outside.
 * Invariant: what passes is plain JSON; no limit is the word 'unlimited', never Infinity (G19).
 */
import { z } from 'zod';
import type { Budget } from '../core/state/budget-fields.js';
import { HoldfastError, type ErrorCode } from '../core/state/errors.js';
import { DEFAULT_TOKEN_BUDGET } from '../core/state/token-budget.js';
import { PERMISSION_MODES } from '../core/state/permission-mode.js';
import { VERSIONED, type Settings } from '../core/state/settings.js';
import type { BudgetOverrides, SettingsOverrides } from '../core/state/task.js';
import { inMicroUsd } from './budget-in-usd.js';
import { misplaced, OR_LEAVE } from './field-places.js';
import { parseFields } from './parse-fields.js';

const YEAR_MS = 366 * 86_400_000;
const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const retries = z.number().int().min(0).max(20);
const duration = z.number().int().min(1).max(YEAR_MS);
const limit = z
  .union([count, z.literal('unlimited'), z.literal(Number.POSITIVE_INFINITY)], {
    error: "must be a whole number from 0, or 'unlimited'",
  })
  .transform((value) => (value === Number.POSITIVE_INFINITY ? ('unlimited' as const) : value));

const toolNames = z.array(z.string().min(1).max(128)).max(200);
const tokenBudget = z.strictObject({
  targetOutputTokens: count.min(1),
  completionThreshold: z.number().min(0).max(1).default(DEFAULT_TOKEN_BUDGET.completionThreshold),
  smallDeltaTokens: count.default(DEFAULT_TOKEN_BUDGET.smallDeltaTokens),
  minContinuations: count.default(DEFAULT_TOKEN_BUDGET.minContinuations),
  consecutiveSmallDeltas: count.min(1).default(DEFAULT_TOKEN_BUDGET.consecutiveSmallDeltas),
});

/** They go into one header, separated by commas. */
const betas = z.array(z.string().regex(/^[A-Za-z0-9._-]{1,100}$/)).max(20);

const version = z.string().trim().min(1).max(128).optional();

const budgetSchema = z
  .strictObject({
    maxTurns: limit,
    maxModelCalls: limit,
    maxToolCalls: limit,
    maxParallelToolCalls: count.min(1).max(100),
    timeoutMs: limit,
    maxInputTokens: limit,
    maxOutputTokens: limit,
    maxCostMicroUsd: limit,
    maxToolResultChars: count,
    maxRetriesPerModelCall: retries,
    maxServerErrorRetries: retries,
    maxRetriesPerToolCall: retries,
    maxTokensPerResponse: count.min(1),
    maxOutputRecoveries: count.max(100),
    maxConsecutiveToolFailures: limit,
    maxConsecutiveToolErrors: limit,
    maxDeniedProposals: limit,
    maxInvalidProposals: limit,
    maxRepeatedActions: limit,
    emptyResponseRetries: count.max(100),
    maxThinkingTokens: limit,
    maxReactiveCompactions: count.max(100),
    maxStopHookReentries: count.max(100),
    maxOutputSchemaRetries: count.max(100),
    compactionThreshold: z.number().min(0).max(1),
  } satisfies Record<keyof Budget, z.ZodType>)
  .partial();

const settingsSchema = z
  .strictObject({
    onDeny: z.enum(['observe', 'refuse']),
    onInvalid: z.enum(['observe', 'refuse']),
    onToolFailure: z.strictObject({
      mode: z.enum(['observe', 'stop']),
      threshold: count.min(1),
      outcome: z.enum(['needs_human', 'tool_failure']),
    }),
    toolExecution: z.enum(['serial', 'batched', 'dataflow']),
    approvalMode: z.enum(['wait', 'stop']),
    permissionMode: z.enum(PERMISSION_MODES),
    allowBypassPermissions: z.boolean(),
    allowStandingGrants: z.boolean(),
    allowedTools: toolNames,
    disallowedTools: toolNames,
    maxTokensStrategy: z.enum(['auto', 'compact_first', 'continue_only', 'stop']),
    continuationPrompt: z.string().trim().min(1).max(1_000),
    continuationRole: z.enum(['user', 'system']),
    compactionMetric: z.enum(['context', 'cumulative']),
    minCompactionGain: z.number().min(0).max(1),
    minTurnsBetweenCompactions: count,
    wrapUpTurn: z.boolean(),
    onBudget: z.enum(['stop', 'ask']),
    budgetRoles: z.array(z.string().trim().min(1).max(100)).max(20),
    tokenBudget: tokenBudget.nullable(),
    fallbackModel: z.string().min(1).max(200).nullable(),
    fallbackSticky: z.enum(['turn', 'session']),
    interruptMode: z.enum(['stop', 'pause']),
    turnCounting: z.enum(['round_trips', 'logical']),
    timeoutCounts: z.enum(['active', 'wall']),
    budgetOverrunPolicy: z.enum(['complete', 'stop']),
    afterAnswer: z.enum(['complete', 'await_user']),
    onOutcomeUnknown: z.enum(['ask', 'observe', 'stop']),
    onApprovalTimeout: z.enum(['reject', 'stop']),
    approvalTimeoutMs: duration,
    inputTimeoutMs: duration,
    idleTimeoutMs: duration,
    unservedTimeoutMs: duration,
    propagateCancellation: z.boolean(),
    persistSession: z.boolean().nullable(),
    showCwd: z.boolean(),
    includePartialMessages: z.boolean(),
    streamRetentionMs: count.max(YEAR_MS),
    requireProof: z.boolean(),
    requireDone: z.boolean(),
    minOutputTokens: count.min(1),
    heartbeatMs: z.strictObject({
      repeatable: duration.min(1_000),
      single: duration.min(1_000),
    }),
    modelTimeoutMs: duration,
    temperature: z.number().min(0).max(2),
    betas,
    versions: z.strictObject(Object.fromEntries(VERSIONED.map((part) => [part, version]))),
  } satisfies Record<keyof Settings, z.ZodType>)
  .partial();

/** Where a value stands, for the message of its error. */
export interface Place {
  readonly code: ErrorCode;
  /** Begins the message: `Agent refund`, `The start input`. */
  readonly subject: string;
}

export function parseBudget(value: unknown, place: Place): BudgetOverrides {
  const inMicro = inMicroUsd(value ?? {}, (field, why) =>
    notAllowed(place, `budget.${field}`, { why }),
  );
  return parsed(budgetSchema, { value: inMicro, what: 'budget', place });
}

export function parseSettings(value: unknown, place: Place): SettingsOverrides {
  return parsed(settingsSchema, { value: value ?? {}, what: 'settings', place });
}

interface Subject {
  readonly value: unknown;
  readonly what: string;
  readonly place: Place;
}

function parsed<T>(schema: z.ZodType<T>, { value, what, place }: Subject): T {
  const result = parseFields(schema, value);
  if (result.success) return withoutAbsent(result.data);
  const issue = result.error.issues[0];
  const path = [what, ...(issue?.path ?? [])].join('.');
  const why = issue?.message ?? 'not valid';
  throw notAllowed(place, path, { why, elsewhere: misplaced(issue) });
}

function notAllowed(
  { code, subject }: Place,
  path: string,
  { why, elsewhere = '' }: { readonly why: string; readonly elsewhere?: string },
): HoldfastError {
  return new HoldfastError(code, `${subject}: ${path} is not allowed: ${why}.`, {
    hint: `${elsewhere}Correct ${path}; ${OR_LEAVE}`,
  });
}

/** A field that is present but undefined must not hide the default below it. */
function withoutAbsent<T>(value: T): T {
  return Object.fromEntries(
    Object.entries(value as object).filter(([, field]) => field !== undefined),
  ) as T;
}
