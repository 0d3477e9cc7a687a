/** Tools, what they answer, and the policy over them. */
import { z } from 'zod';
import { EFFECTS, IDEMPOTENCIES, ON_LOST } from '../../core/state/tool.js';
import { files } from './files.js';
import { inputRequired } from './servers.js';
import {
  chosen,
  hasKey,
  jsonObject,
  limit,
  natural,
  positive,
  someTexts,
  text,
  texts,
  when,
} from './values.js';

const delayMs = natural.optional();
/** What a server says of its progress before it answers. */
const notes = someTexts.optional();

/** What only tools of servers answer. */
const SERVER_FORMS = {
  input_required: z.strictObject({ input_required: inputRequired, delayMs }),
  refused: z.strictObject({ refused: text, delayMs }),
  malformed: z.strictObject({ malformed: z.unknown(), delayMs }),
  oversized: z.strictObject({ oversized: positive, delayMs }),
} as const;

const RESULT_FORMS = {
  ok: z.strictObject({
    ok: z.unknown(),
    delayMs,
    costMicroUsd: natural.optional(),
    notes,
    /** Beside the value. */
    files: files.optional(),
  }),
  error: z.strictObject({ error: text, code: text.optional(), delayMs }),
  throws: z.strictObject({ throws: text, delayMs }),
  retryable_error: z.strictObject({ retryable_error: text, delayMs }),
  timeout: z.strictObject({ timeout: z.literal(true), delayMs }),
  hang: z.strictObject({ hang: z.literal(true), delayMs }),
  lost: z.strictObject({ lost: z.enum(['before', 'after']), delayMs }),
  /** It returns this, which does not fit its output schema. */
  unfit: z.strictObject({ unfit: z.unknown(), delayMs }),
  ...SERVER_FORMS,
} as const;

/** The form of the first fixture format that existed: `{"status": …, "reason" or "output"}`. */
const statusForm = z.strictObject({
  status: z.enum(['ok', 'error', 'retryable_error'], {
    error:
      'a tool result has one of: ok, error, throws, retryable_error, timeout, hang, lost, status; of a server also input_required, refused, malformed, oversized',
  }),
  delayMs,
  reason: text.optional(),
  output: z.unknown().optional(),
});

export type WrittenResult =
  | {
      [Form in keyof typeof RESULT_FORMS]: z.infer<(typeof RESULT_FORMS)[Form]>;
    }[keyof typeof RESULT_FORMS]
  | z.infer<typeof statusForm>;

export const toolResult = chosen<WrittenResult>((value) => {
  const form = Object.keys(RESULT_FORMS).find((key) => hasKey(value, key));
  return form === undefined ? statusForm : RESULT_FORMS[form as keyof typeof RESULT_FORMS];
});

const approvalRule = z
  .strictObject({
    roles: texts,
    quorum: positive,
    expiresInMs: limit,
    onExpiry: z.enum(['reject', 'stop']),
    escalate: z.strictObject({ afterMs: positive, roles: texts.min(1) }),
  })
  .partial();

const jsonSchema = z.union([jsonObject, z.boolean()]);

/** The specification's word for a tool that writes a memory (G38). Nothing sets such a tool apart: it is a tool. */
const MEMORY_WRITE = 'memory_write';
const kind = z
  .enum(['tool', 'human_input', 'subagent', 'mcp', 'hosted', 'handoff', MEMORY_WRITE])
  .transform((written) => (written === MEMORY_WRITE ? 'tool' : written));

/** One recorded call: what it was asked, and what each of its attempts answered; `run`: a run below that of the case alone. */
const recordedCall = z.strictObject({
  input: z.unknown(),
  results: z.array(toolResult).min(1),
  run: text.optional(),
});

/** What an agent that is a tool makes of its arguments. */
const startedTask = z.strictObject({ input: z.unknown(), task: text });

const answeredBy = z.union([
  z.enum(['customer', 'staff']),
  z.strictObject({ roles: texts.min(1) }),
]);

export const tool = z
  .strictObject({
    description: z.string(),
    effect: z.enum(EFFECTS),
    concurrencySafe: z.boolean(),
    quick: z.boolean(),
    idempotency: z.enum(IDEMPOTENCIES),
    onLost: z.enum(ON_LOST),
    approval: z.union([z.enum(['never', 'by_policy', 'always']), approvalRule]),
    sandbox: z.enum(['none', 'optional', 'required']),
    kind,
    inputSchema: jsonSchema,
    outputSchema: jsonSchema,
    version: text,
    timeoutMs: positive,
    maxCostMicroUsd: positive,
    results: z.array(toolResult),
    recorded: z.array(recordedCall),
    answeredBy,
    /** The agent that it starts, and with which tasks; without tasks the task is the arguments as JSON. */
    starts: text,
    tasks: z.array(startedTask),
    /** Of a tool of a server: what the server says that it does. */
    annotations: jsonObject,
  })
  .partial();

export const policyRule = z.strictObject({
  tool: text,
  decision: z.enum(['allow', 'deny', 'ask', 'sandbox']),
  reason: text.optional(),
  terminal: z.boolean().optional(),
  when: when.optional(),
});
