/** What a fixture can expect. */
import { z } from 'zod';
import { STOP_MEANINGS } from '../../core/step/stop.js';
import type { StopReason } from '../../core/state/result.js';
import { TOOL_RESULT_CODES } from '../../core/state/tool-result.js';
import { DIALECTS } from '../dialects.js';
import { eventPattern, type EventPattern } from './during.js';
import { ofGoal } from './goal-expected.js';
import { served } from './servers.js';
import {
  chosen,
  count,
  hasKey,
  jsonObject,
  letters,
  natural,
  someTexts,
  text,
  texts,
  withSomeKey,
  type Count,
} from './values.js';

export type { Count };

const CANONICAL_REASONS = Object.keys(STOP_MEANINGS) as readonly StopReason[];

/** Words of other specifications that mean one thing without their dialect. */
const CLEAR_ALIASES = [
  'step_limit_reached',
  'no_final_answer_or_tool_call',
  'max_steps',
  'policy_blocked',
  'end_turn',
  'error_max_budget_usd',
  'aborted_streaming',
  'aborted_tools',
  'success',
  'error_max_turns',
  'error_max_structured_output_retries',
] as const;

/** Words that several canonical reasons share. */
const VAGUE_ALIASES = ['budget_exceeded', 'error_during_execution'] as const;

const STOP_REASONS = [...CANONICAL_REASONS, ...CLEAR_ALIASES, ...VAGUE_ALIASES] as const;

const PHASES = [
  'before_model',
  'streaming',
  'before_tools',
  'tools',
  'initializing',
  'checking_limits',
  'building_context',
  'awaiting_model',
  'validating',
  'stop_hooks',
  'dispatching_tools',
  'finishing',
] as const;

const TRANSITIONS = [
  'max_output_tokens_recovery',
  'max_tokens_compact_retry',
  'reactive_compact_retry',
  'proactive_compact',
  'stop_hook_blocking',
  'token_budget_continuation',
  'model_fallback',
  'completion_rejected',
  'output_schema_retry',
  'empty_response_retry',
  'pause_turn_resume',
  'continued_as_new',
] as const;

export const PLAIN_COUNTERS = [
  'modelCalls',
  'turnCount',
  'step',
  'proposedCalls',
  'toolCalls',
  'toolAttempts',
  'deniedCalls',
  'invalidCalls',
  'skippedCalls',
  'inputRequests',
  'notStartedCalls',
  'recoveryCount',
  'stopHookReentries',
  'fallbacks',
  'costMicroUsd',
  'activeMs',
  'waitingMs',
] as const;

const plainCounters = Object.fromEntries(
  PLAIN_COUNTERS.map((name) => [name, count.optional()]),
) as Record<(typeof PLAIN_COUNTERS)[number], z.ZodOptional<z.ZodType<Count>>>;

const counters = withSomeKey(
  z.strictObject({
    ...plainCounters,
    compactions: withSomeKey(
      z.strictObject({ proactive: count, reactive: count }).partial(),
    ).optional(),
    usage: withSomeKey(
      z.strictObject({ in: count, out: count, cacheR: count, cacheW: count }).partial(),
    ).optional(),
  }),
);

const callResult = withSomeKey(
  z
    .strictObject({
      status: z.enum(['ok', 'error', 'skipped']),
      isError: z.boolean(),
      code: z.enum(TOOL_RESULT_CODES),
      synthetic: z.boolean(),
      contains: z.union([text, someTexts]),
      sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits'),
      started: z.boolean(),
    })
    .partial(),
);

const execution = z.strictObject({
  call: text.optional(),
  tool: text,
  key: text.optional(),
  input: z.unknown().optional(),
  sandbox: z.boolean().optional(),
});

const notPattern = z.strictObject({ not: eventPattern });
const expectedEvent = chosen<EventPattern | z.infer<typeof notPattern>>((value) =>
  hasKey(value, 'not') ? notPattern : eventPattern,
);

const requestMatcher = z
  .strictObject({
    toolsOffered: texts,
    toolsNotOffered: texts,
    maxTokens: natural,
    model: text,
    contains: someTexts,
    notContains: someTexts,
    roles: letters,
    /** Media types of the files that it has, in order. */
    files: texts,
  })
  .partial();

export type RequestMatcher = z.infer<typeof requestMatcher>;

const modelRequests = chosen<number | readonly RequestMatcher[]>((value) =>
  Array.isArray(value) ? z.array(requestMatcher).min(1) : natural,
);

const pair = z.array(text).length(2);
const apart = z.strictObject({ not: pair });
const overlap = chosen<readonly string[] | z.infer<typeof apart>>((value) =>
  Array.isArray(value) ? pair : apart,
);

const approval = withSomeKey(
  z
    .strictObject({
      call: text,
      tool: text,
      args: jsonObject,
      decision: z.enum(['approve', 'reject', 'modify', 'replace', 'expired', 'withdrawn']),
      decidedBy: text,
      outcome: text,
    })
    .partial(),
);

const byName = <S extends z.ZodType>(schema: S) => withSomeKey(z.record(z.string(), schema));

const ofResult = {
  stop_reason: z.enum(STOP_REASONS),
  dialect: z.enum(DIALECTS),
  detail: text,
  phase: z.enum(PHASES),
  status: z.enum(['completed', 'stopped', 'failed', 'cancelled']),
  completed: z.boolean(),
  /** Null: there is none. */
  answer: z.string().nullable(),
  output: z.unknown(),
  partial_output: z.string(),
  budget_overrun: z.boolean(),
  next_safe_action: z.union([z.literal(true), text]),
  cost_micro_usd: natural,
  counters,
  start_error: text,
};

const ofCalls = {
  results: byName(callResult),
  result_order: z.array(someTexts),
  executed: z.array(execution),
  attempts: byName(natural),
  effects: byName(natural),
  forbidden_tools: someTexts,
  max_tool_calls: natural,
  max_in_flight: natural,
  overlap: z.array(overlap).min(1),
  approvals: z.array(approval),
  served,
};

const ofEvents = {
  history: letters,
  requires_trace_events: someTexts,
  trace_includes: someTexts,
  events: z.array(expectedEvent).min(1),
  transitions: z.array(z.enum(TRANSITIONS)),
  model_requests: modelRequests,
  warnings: someTexts,
  persisted: natural,
  sessions: z.strictObject({ resumed_with: z.array(z.enum(['U', 'A', 'R'])) }),
};

const { stop_reason, detail, completed, answer, cost_micro_usd } = ofResult;
const { events, transitions, model_requests, warnings } = ofEvents;
const { results, result_order } = ofCalls;

/** Of another run of the case: a sub-agent, or one that a handoff has started. */
const otherRun = withSomeKey(
  z
    .strictObject({
      stop_reason,
      detail,
      completed,
      answer,
      cost_micro_usd,
      counters,
      results,
      result_order,
      events,
      transitions,
      model_requests,
      warnings,
    })
    .partial(),
);

/** By its place below the run of the case (`a2:a1`), or the name of its agent; of several of one name `name#2` is the second. */
const ofOthers = { runs: byName(otherRun) };

const VAGUE: readonly string[] = VAGUE_ALIASES;

export const expected = z
  .strictObject({ ...ofResult, ...ofCalls, ...ofEvents, ...ofOthers, ...ofGoal })
  .partial()
  .refine((value) => Object.keys(value).length > 0, 'expects nothing')
  .refine((value) => value.dialect === undefined || value.stop_reason !== undefined, {
    path: ['dialect'],
    message: 'needs a stop_reason',
  })
  .refine((value) => value.dialect !== undefined || !VAGUE.includes(value.stop_reason ?? ''), {
    path: ['stop_reason'],
    message: 'stands for several reasons: name its dialect, or use the canonical reason',
  });

export type Expected = z.infer<typeof expected>;
