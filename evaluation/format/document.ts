/**
 * The written form of a fixture, key by key.
 * Invariant: every object is closed; an unknown key anywhere is an error.
 */
import { z } from 'zod';
import { EFFECTS } from '../../core/state/tool.js';
import { each } from '../../pure/options.js';
import { agentKeys } from './agents.js';
import { moment } from './during.js';
import { expected } from './expected.js';
import { files } from './files.js';
import { goalKeys } from './goal.js';
import { answer, reply } from './replies.js';
import { server } from './servers.js';
import { budget, inUsdToo, settings } from './settings.js';
import { supervise } from './supervise.js';
import { policyRule, tool, toolResult } from './tools.js';
import {
  chosen,
  hasKey,
  jsonObject,
  natural,
  someTexts,
  text,
  texts,
  usage,
  when,
  withSomeKey,
} from './values.js';

const evidence = z.strictObject({ id: text, satisfiedBy: text, predicate: when.optional() });

const task = z
  .strictObject({
    taskId: text,
    traceId: text,
    caller: text,
    constraints: z.unknown(),
    allowedActions: texts,
    forbiddenActions: texts,
    requiredEvidence: z.array(evidence).min(1),
    successCriteria: z.unknown(),
    stopReasons: texts,
    outputSchema: jsonObject,
    sessionId: text,
    resume: text,
    continue: z.boolean(),
    denied: text,
    attachments: files,
  })
  .partial();

const message = z
  .strictObject({
    user: z.string(),
    assistant: answer,
    results: withSomeKey(z.record(z.string(), toolResult)),
  })
  .partial()
  .refine((value) => Object.keys(value).length === 1, 'must be one of user, assistant, results');

const session = z.strictObject({
  id: text,
  messages: z.array(message),
  state: jsonObject.optional(),
  reactiveCompacted: z.boolean().optional(),
});

const failedSummary = z.strictObject({ error: text });
const givenSummary = z.strictObject({ summary: z.string(), tokens: natural, usage }).partial();
const summary = chosen<z.infer<typeof failedSummary> | z.infer<typeof givenSummary>>((value) =>
  hasKey(value, 'error') ? failedSummary : givenSummary,
);

/** `call`: the outcome is that of this call alone; the others are not asked in order then. */
const ANY_OUTCOME = {
  throws: text.optional(),
  delayMs: natural.optional(),
  call: text.optional(),
};
const silentHook = z.array(z.strictObject(ANY_OUTCOME));

const hooks = z
  .strictObject({
    SessionStart: z.array(
      z.strictObject({
        additionalContext: z.string().optional(),
        decision: z.literal('deny').optional(),
        message: z.string().optional(),
        ...ANY_OUTCOME,
      }),
    ),
    PreToolUse: z.array(
      z.strictObject({
        decision: z.enum(['allow', 'deny', 'ask']).optional(),
        message: z.string().optional(),
        updatedInput: z.unknown().optional(),
        ...ANY_OUTCOME,
      }),
    ),
    PostToolUse: silentHook,
    PostToolUseFailure: silentHook,
    PostSampling: z.array(z.strictObject({ systemMessages: someTexts.optional(), ...ANY_OUTCOME })),
    Stop: z.array(
      z.strictObject({
        blockingErrors: texts.optional(),
        preventContinuation: z.boolean().optional(),
        ...ANY_OUTCOME,
      }),
    ),
    StopFailure: silentHook,
    PreCompact: silentHook,
    SessionEnd: silentHook,
  })
  .partial();

const hookMatch = z
  .strictObject({ tools: someTexts, effects: z.array(z.enum(EFFECTS)).min(1) })
  .partial();
const callHook = z.strictObject({ name: text, match: hookMatch.optional() });

/** What the hook of a point is called, and which calls it is asked about; without `match` all of them. */
const namedHooks = z
  .strictObject({
    ...each(callHook, 'PreToolUse PostToolUse PostToolUseFailure'),
    ...each(
      callHook.omit({ match: true }),
      'SessionStart PostSampling Stop StopFailure PreCompact SessionEnd',
    ),
  })
  .partial();

/** Where a captured case comes from, and what of the record it does not say. Nothing is decided by it. */
const captured = z.strictObject({
  run: text,
  agent: text,
  rules: natural.optional(),
  until: natural.optional(),
  leftOut: z.array(text).optional(),
});

type WrittenTools = 'live' | Readonly<Record<string, z.infer<typeof tool>>>;

export const fixtureDocument = z.strictObject({
  case_id: z.string().regex(/^[\w.:-]+$/, 'must be letters, digits, "_", ".", ":" and "-" only'),
  title: z.string().optional(),
  captured: captured.optional(),
  instructions: text.optional(),
  agent: text.optional(),
  config: text.optional(),
  profile: z.enum(['default', 'strict001']).optional(),
  goal: z.string().optional(),
  task: task.optional(),
  budget: inUsdToo(budget).optional(),
  settings: settings.optional(),
  policy: z.array(policyRule).optional(),
  /** `live`: the tools of the configuration's agent do what they do. */
  tools: chosen<WrittenTools>((value) =>
    value === 'live' ? z.literal('live') : z.record(z.string(), tool),
  ).optional(),
  /** Servers of connectors by name; their tools stand under `tools`. */
  mcp: withSomeKey(z.record(z.string(), server)).optional(),
  mocked_tools: withSomeKey(z.record(z.string(), z.array(toolResult))).optional(),
  ...agentKeys,
  supervise: supervise.optional(),
  sessions: z.array(session).min(1).optional(),
  model: z.array(reply).optional(),
  compaction: z.array(summary).min(1).optional(),
  hooks: hooks.optional(),
  namedHooks: namedHooks.optional(),
  during: z.array(moment).optional(),
  ...goalKeys,
  expected,
});

export type FixtureDocument = z.infer<typeof fixtureDocument>;
