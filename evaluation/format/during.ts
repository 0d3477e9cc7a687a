/** What happens from outside while the run goes on, and when. */
import { z } from 'zod';
import { HOOK_POINTS } from '../../core/state/hook.js';
import { PERMISSION_MODES } from '../../core/state/permission-mode.js';
import { GOAL_ACTIONS, GOAL_EVENT_NAMES, goalPatternKeys } from './goal.js';
import { files } from './files.js';
import { serverChange } from './servers.js';
import { chosen, duration, hasKey, jsonObject, natural, positive, text, texts } from './values.js';

const EVENT_NAMES = [
  'session_init',
  'model_delta',
  'model_response',
  'validation',
  'permission',
  'approval_requested',
  'approval_resolved',
  'approval_withdrawn',
  'tool_started',
  'tool_finished',
  'tool_note',
  'user_message',
  'tool_results_message',
  'transition',
  'compact_boundary',
  'tombstone',
  'hook',
  'interruption',
  'supervision',
  'model_error',
  'retry',
  'goal_review',
  'stop',
  'run_result',
  'input_request',
  ...GOAL_EVENT_NAMES,
] as const;

/** Of a run below that of the case: its place. */
const run = text.optional();

const eventFields = {
  event: z.enum(EVENT_NAMES),
  call: text.optional(),
  tool: text.optional(),
  name: z.enum(HOOK_POINTS).optional(),
  n: positive.optional(),
  /** Of a supervisor. */
  decision: z.enum(['go_on', 'steer', 'interrupt', 'ask']).optional(),
  ...goalPatternKeys,
};

/** Keys that go with one event only. */
const OF_EVENT = { decision: 'supervision', name: 'hook', check: 'check_finished' } as const;

function fitting<Schema extends z.ZodType<{ readonly event: string }>>(schema: Schema): Schema {
  return schema.superRefine((value, ctx) => {
    for (const [key, event] of Object.entries(OF_EVENT)) {
      if (!Object.hasOwn(value, key) || value.event === event) continue;
      ctx.addIssue({
        code: 'custom',
        path: [key],
        message: `goes with the event "${event}" only`,
      });
    }
  });
}

export const eventPattern = fitting(z.strictObject(eventFields));
const momentPattern = fitting(z.strictObject({ ...eventFields, run }));

const modelCallPattern = z.strictObject({
  modelCall: positive,
  at: z.enum(['before', 'streaming', 'after']),
  run,
  cycle: goalPatternKeys.cycle,
  agent: goalPatternKeys.agent,
});
const startPattern = z.strictObject({ start: z.literal(true) });

export type EventPattern = z.infer<typeof eventPattern>;
export type WrittenPattern =
  z.infer<typeof momentPattern> | z.infer<typeof modelCallPattern> | z.infer<typeof startPattern>;

const pattern = chosen<WrittenPattern>((value) => {
  if (hasKey(value, 'event')) return momentPattern;
  return hasKey(value, 'modelCall') ? modelCallPattern : startPattern;
});

const resolveApproval = z
  .strictObject({
    call: text.optional(),
    run,
    /** The question is the goal's own. */
    goal: z.literal(true).optional(),
    cycle: goalPatternKeys.cycle,
    agent: goalPatternKeys.agent,
    approvalId: text.optional(),
    decision: z.enum([
      'approve',
      'reject',
      'modify',
      'replace',
      'happened',
      'not_happened',
      'stop',
    ]),
    args: jsonObject.optional(),
    tool: text.optional(),
    reason: text.optional(),
    by: text.optional(),
    roles: texts.optional(),
    argsHashOf: jsonObject.optional(),
    value: z.unknown().optional(),
    amount: z.number().gt(0).optional(),
    /** With approve: later calls that it covers as well. */
    grant: jsonObject.optional(),
    /** With reject: the run is interrupted as well. */
    interrupt: z.literal(true).optional(),
  })
  .refine((value) => !['modify', 'replace'].includes(value.decision) || value.args !== undefined, {
    path: ['args'],
    message: 'is needed with this decision',
  })
  .refine((value) => value.decision !== 'replace' || value.tool !== undefined, {
    path: ['tool'],
    message: 'is needed with this decision',
  });

const ACTIONS = {
  resolveApproval,
  provideInput: z.strictObject({ call: text, run, value: z.unknown() }),
  answerSupervisor: text,
  userMessage: z.union([text, z.strictObject({ text, attachments: files })]),
  interrupt: z.literal(true),
  cancel: z.literal(true),
  close: z.literal(true),
  setModel: text,
  setPermissionMode: z.enum(PERMISSION_MODES),
  setMaxThinkingTokens: natural.nullable(),
  advance: duration,
  restartWorker: z.strictObject({ downMs: natural.optional() }),
  killWorker: z.literal(true),
  continueAsNew: z.literal(true),
  server: serverChange,
  ...GOAL_ACTIONS,
};

const action = z
  .strictObject(ACTIONS)
  .partial()
  .refine((value) => Object.keys(value).length === 1, 'must be exactly one action');

export type WrittenAction = z.infer<typeof action>;

const actions = chosen<readonly WrittenAction[]>((value) =>
  Array.isArray(value) ? z.array(action).min(1) : action.transform((one) => [one]),
);

export const moment = z.strictObject({ on: pattern, do: actions, times: positive.optional() });
