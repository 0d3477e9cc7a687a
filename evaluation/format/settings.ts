/** Budgets and settings of a fixture, by their canonical names. */
import { z } from 'zod';
import { inMicroUsd } from '../../authoring/budget-in-usd.js';
import { PERMISSION_MODES } from '../../core/state/permission-mode.js';
import {
  cadence,
  limit,
  natural,
  positive,
  price,
  share,
  text,
  texts,
  withSomeKey,
} from './values.js';

const limits = z.strictObject({
  maxTurns: limit,
  maxModelCalls: limit,
  maxToolCalls: limit,
  maxParallelToolCalls: limit,
  timeoutMs: limit,
  maxInputTokens: limit,
  maxOutputTokens: limit,
  maxCostMicroUsd: limit,
  maxToolResultChars: limit,
  maxRetriesPerModelCall: limit,
  maxServerErrorRetries: limit,
  maxRetriesPerToolCall: limit,
  maxThinkingTokens: limit,
  maxTokensPerResponse: limit,
  maxOutputRecoveries: limit,
  maxReactiveCompactions: limit,
  maxConsecutiveToolFailures: limit,
  maxConsecutiveToolErrors: limit,
  maxDeniedProposals: limit,
  maxInvalidProposals: limit,
  maxRepeatedActions: limit,
  maxStopHookReentries: limit,
  maxOutputSchemaRetries: limit,
  emptyResponseRetries: limit,
  compactionThreshold: share,
});

export const budget = limits.partial();

/** A budget that may say its money in USD (`maxCostUsd`), as people write it elsewhere. */
export function inUsdToo<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((written, context) => {
    try {
      return inMicroUsd(written, (field, why) => new MoneyDefect(field, why));
    } catch (error) {
      if (!(error instanceof MoneyDefect)) throw error;
      context.issues.push({
        code: 'custom',
        path: [error.field],
        message: error.message,
        input: written,
      });
      return z.NEVER;
    }
  }, schema);
}

class MoneyDefect extends Error {
  constructor(
    readonly field: string,
    why: string,
  ) {
    super(why);
  }
}

const onToolFailure = z.strictObject({
  mode: z.enum(['observe', 'stop']),
  threshold: positive.optional(),
  outcome: z.enum(['needs_human', 'tool_failure']).optional(),
});

const tokenBudget = z.strictObject({
  targetOutputTokens: positive,
  completionThreshold: share.optional(),
  smallDeltaTokens: natural.optional(),
  minContinuations: natural.optional(),
  consecutiveSmallDeltas: positive.optional(),
});

const versions = withSomeKey(
  z
    .strictObject({
      prompt: text,
      tools: text,
      policy: text,
      modelRoute: text,
      pricing: text,
      code: text,
    })
    .partial(),
);

const permission = {
  approvalMode: z.enum(['wait', 'stop']),
  approvalTimeoutMs: limit,
  onApprovalTimeout: z.enum(['reject', 'stop']),
  inputTimeoutMs: limit,
  permissionMode: z.enum(PERMISSION_MODES),
  allowBypassPermissions: z.boolean(),
  allowStandingGrants: z.boolean(),
  allowedTools: texts,
  disallowedTools: texts,
  onDeny: z.enum(['observe', 'refuse']),
  onInvalid: z.enum(['observe', 'refuse']),
};

const loop = {
  toolExecution: z.enum(['serial', 'batched', 'dataflow']),
  onToolFailure,
  turnCounting: z.enum(['round_trips', 'logical']),
  timeoutCounts: z.enum(['active', 'wall']),
  budgetOverrunPolicy: z.enum(['complete', 'stop']),
  onBudget: z.enum(['stop', 'ask']),
  budgetRoles: texts,
  onOutcomeUnknown: z.enum(['ask', 'observe', 'stop']),
  wrapUpTurn: z.boolean(),
  requireDone: z.boolean(),
  tokenBudget: tokenBudget.nullable(),
  terminateOn: z.enum(['no_calls']),
  stateWritePolicy: z.enum(['write_once']),
  interruptMode: z.enum(['stop', 'pause']),
  afterAnswer: z.enum(['complete', 'await_user']),
  idleTimeoutMs: limit,
  propagateCancellation: z.boolean(),
};

const model = {
  model: text,
  fallbackModel: text.nullable(),
  fallbackSticky: z.enum(['turn', 'session']),
  maxTokensStrategy: z.enum(['auto', 'compact_first', 'continue_only', 'stop']),
  continuationPrompt: text,
  minOutputTokens: natural,
  continuationRole: z.enum(['user', 'system']),
  compactionMetric: z.enum(['context', 'cumulative']),
  minCompactionGain: share,
  minTurnsBetweenCompactions: natural,
  contextWindow: z.union([positive, withSomeKey(z.record(z.string(), positive))]),
  pricing: withSomeKey(z.record(z.string(), price)),
  unknownModelPricing: z.union([z.enum(['fail', 'zero']), price]),
  /** What every model of the case reads beside text, with the most tokens of each. */
  takes: z.strictObject({ image: natural, documentPage: natural, soundSecond: natural }).partial(),
};

const session = {
  includePartialMessages: z.boolean(),
  streamCalls: z.boolean(),
  closeOnReturn: z.boolean(),
  persistSession: z.boolean(),
  showCwd: z.boolean(),
  checkpointEvery: z.union([positive, cadence]),
  reviewEvery: cadence,
  versions,
};

export const settings = z.strictObject({ ...permission, ...loop, ...model, ...session }).partial();
