/** Shapes that the API takes and gives. */
import { z } from 'zod';
import { AUDIT_KINDS } from '../../pure/audit.js';
import { LIMIT_SCOPES } from '../../core/controls/limits-across-runs.js';
import { RECOVERY_STEPS } from '../../core/state/recovery.js';
import { STORED_STATUSES } from '../../core/state/view.js';
import { textDefect } from '../../pure/text-defect.js';
import { RECEIPT_STATES } from '../receipt.js';
import { notAllowedText } from './texts.js';

const ID_CHARS_MAX = 400;

/** An id from outside: bounded, and as keys can hold it. */
export const id = z
  .string()
  .min(1)
  .max(ID_CHARS_MAX)
  .refine((text) => !notAllowedText(text), 'must be readable characters')
  .meta({ example: 'run_01J' });

export const limit = z.coerce.number().int().min(1).max(200).default(50);
export const cursor = z.string().min(1).max(1_000).optional();

export const time = z.number().int().describe('ms since epoch');
const text = z.string();
export const runStatus = z.enum(STORED_STATUSES);

export const run = z.object({
  runId: text,
  agent: text,
  status: text,
  goal: text,
  model: text,
  caller: text.optional(),
  startedAt: time,
  updatedAt: time,
  completedAt: time.optional(),
  stopReason: text.optional(),
  detail: text.optional(),
  costMicroUsd: z.number().int().optional(),
  alarm: z
    .string()
    .optional()
    .describe('Cost or tokens of the run kept doubling from turn to turn.'),
  lastSeq: z.number().int(),
});

export const runDetail = run.extend({
  taskId: text,
  sessionId: text.optional(),
  result: z.unknown().optional(),
  pending: z.array(z.unknown()),
  /** The run in Temporal's own page. */
  temporalUrl: text.optional(),
});

/** What was used up of the limits of the tool when the call was proposed. */
const limitsOutlook = z.object({
  amount: z.number().int().describe('what the call would take, in the unit of the tool'),
  customer: text.optional(),
  limits: z.array(
    z.object({
      scope: z.enum(LIMIT_SCOPES),
      amount: z.number().int().optional(),
      count: z.number().int().optional(),
      used: z.object({ amount: z.number().int(), count: z.number().int() }),
    }),
  ),
  exceeded: z.literal(true).optional(),
});

/** What the tool declares of the card of its questions. */
const card = z.object({
  amount: z
    .object({ path: text, unit: z.enum(['minor', 'major']), currency: text })
    .optional()
    .describe(
      '`currency`: a code of three capital letters, or the path of the argument that has it',
    ),
  recipient: text.optional(),
  reference: text.optional().describe('path in the result of the tool'),
  labels: z.record(text, text).optional(),
});

export const ask = z.object({
  askId: text,
  runId: text,
  kind: z.enum(['approval', 'outcome', 'budget', 'input', 'user_message']),
  tool: text.optional(),
  toolVersion: text.optional(),
  args: z.unknown().optional(),
  argsHash: text,
  question: text.optional(),
  roles: z.array(text),
  /** Whose word counts at this moment, with the roles that have joined since it was asked; empty: anybody's. */
  rolesNow: z.array(text),
  quorum: z.number().int(),
  policyVersion: text,
  requestedBy: text.optional(),
  openedAt: time,
  expiresAt: time,
  outcome: text,
  by: z.array(text),
  reason: text.optional(),
  resolvedAt: time.optional(),
  escalation: z.object({ at: time, roles: z.array(text) }).optional(),
  answeredBy: z.enum(['customer', 'staff']).optional(),
  /** The same was done before. */
  repeats: z
    .object({
      identity: z.array(text),
      earlier: z.array(
        z.looseObject({
          runId: text,
          tool: text,
          at: time,
          state: text,
          amount: z.number().optional(),
          approvedBy: z.array(text),
        }),
      ),
      more: z.literal(true).optional(),
    })
    .optional(),
  limits: limitsOutlook.optional(),
  card: card.optional(),
});

export const page = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next: text.optional() });

export const search = z.string().trim().min(1).max(200).optional();

const listedAsk = ask.extend({
  decidedByMe: z
    .literal(true)
    .optional()
    .describe('where several have to agree: whoever asks has said their word'),
});
export const inboxPage = page(listedAsk).extend({
  /** All of them, on whichever page. */
  total: z.number().int(),
});

const vote = z.object({ by: text, decision: text, decidedAt: time });
/** Whether a webhook has been told. */
const notice = z.object({
  webhook: text,
  state: z.enum(['waiting', 'sent', 'given_up']),
  tries: z.number().int(),
  nextAt: time.optional().describe('while it waits: when it is tried next'),
  fault: text.optional().describe('what went wrong in the last try'),
});
/** The beginning of a text; `blob` names all of it when this is not. */
const excerpt = z.object({
  text,
  blob: text.optional(),
  bytes: z.number().int().optional(),
});
const action = z.object({ tool: text, args: z.unknown() });
/** What became of the action after its question was decided. */
const receipt = z.object({
  state: z.enum(RECEIPT_STATES),
  at: time.optional(),
  code: text.optional(),
  reference: text.optional(),
  key: text.optional().describe('what the tool was given to recognise a repetition'),
  content: excerpt.optional(),
  corrected: z.object({ by: z.array(text), original: action, corrected: action }).optional(),
  next: z
    .object({ askId: text, kind: text, outcome: text, quorum: z.number().int() })
    .optional()
    .describe('the question that is asked about it since'),
});

export const inboxItem = ask.extend({
  agent: text.optional(),
  frozen: z
    .object({
      id: text,
      scope: z.looseObject({ kind: text }),
      by: text,
      reason: text,
      at: time,
      until: time.optional(),
    })
    .optional()
    .describe('the freeze that covers it at this moment'),
  receipt: receipt.optional(),
  nextVotes: z.array(vote).optional().describe('who has agreed to the corrected action so far'),
  votes: z.array(vote).optional(),
  takesGrant: z
    .literal(true)
    .optional()
    .describe('an approval of it may cover later calls of the tool as well'),
  notices: z.array(notice).optional(),
});

const knownTool = z.object({
  name: text,
  version: text,
  description: text,
  effect: text,
  inputSchema: z.unknown(),
});

export const grounds = z.object({
  goal: excerpt.optional(),
  rule: text.optional(),
  ruleReason: text.optional(),
  proposal: z.object({ text: excerpt.optional(), model: text, at: time }).optional(),
  attempts: z
    .array(
      z.object({
        at: time,
        key: text.describe('what the tool was given to recognise a repetition'),
        steps: z
          .array(
            z.object({
              step: z.enum(RECOVERY_STEPS),
              durationMs: z.number().optional(),
              attempt: z.number().int().optional(),
              claimed: z.boolean().optional(),
              answer: z.enum(['happened', 'not_happened', 'unknown']).optional(),
              message: text.optional(),
              by: z.array(text).optional(),
            }),
          )
          .optional()
          .describe('what was done to find out what became of it'),
        told: z.object({ outcome: text, by: z.array(text), at: time }).optional(),
      }),
    )
    .describe(
      'Of a call whose outcome is unknown: when it was started, and what people said of it.',
    ),
  approvedBy: z.array(text).optional(),
  corrections: z.array(
    z.object({
      askId: text,
      at: time,
      by: z.array(text),
      reason: text.optional(),
      original: action.optional(),
      corrected: action.optional(),
    }),
  ),
  /** Everything from outside that the model had read: untrusted. */
  sources: z.array(
    z.object({
      kind: z.enum(['user', 'tool']),
      seq: z.number().int(),
      at: time,
      tool: text.optional(),
      status: text.optional(),
      content: excerpt,
    }),
  ),
  more: z.boolean(),
  /** Whole words and numbers only; a value that is not here stands nowhere that is known. */
  origins: z.array(
    z.object({
      path: text,
      in: z.enum(['task', 'user', 'tool']),
      tool: text.optional(),
      as: z.enum(['as shown', 'raw']),
    }),
  ),
  tool: knownTool.optional(),
  otherTools: z.array(knownTool),
});

/** A piece of a stored text. */
export const textPiece = z.object({
  text,
  from: z.number().int(),
  /** Characters of the whole. */
  chars: z.number().int(),
});

const condition = z.looseObject({
  path: text,
  equals: z.unknown().optional(),
  lte: z.number().optional(),
  gte: z.number().optional(),
  exists: z.boolean().optional(),
});
/** Somebody's approval of calls that are still to come. */
const standingGrant = z.object({
  id: text.describe('the question whose approval gave it'),
  tool: text,
  when: z.array(condition),
  usesLeft: z.number().int(),
  expiresAt: time,
  by: z.array(text),
});

export const runState = z.looseObject({
  taskId: text.describe('begins the idempotency keys of its calls'),
  goal: text.describe('the beginning of a long one'),
  startedAt: time,
  status: text,
  phase: text,
  transition: z
    .object({ reason: text, at: time })
    .optional()
    .describe('why it went on the last time; absent: it has not yet'),
  segment: z.number().int(),
  counters: z.looseObject({ costMicroUsd: z.number().int(), toolCalls: z.number().int() }),
  reservedMicroUsd: z.number().int(),
  budget: z.record(text, z.unknown()).optional(),
  grants: z.array(standingGrant).optional(),
  queuedMessages: z.number().int(),
});

/** What a run waits for that is neither a person nor its own work. */
export const runWaits = z.object({
  waits: z
    .array(
      z.object({
        for: text.describe('`a worker`, `the store`, `the right store`, `the transcript` …'),
        since: time,
        activity: text.optional().describe('what waits; absent: the next step of the run itself'),
        attempts: z.number().int().describe('how often it was tried so far'),
        message: text.optional().describe('what the last attempt was refused with'),
      }),
    )
    .describe('The longest wait first.'),
});

const small = (max: number) => z.string().trim().min(1).max(max);
const NOT_WHOLE = 'must have neither NUL nor half of a surrogate pair';
const isWhole = (value: unknown): boolean => textDefect(value) === undefined;
/** What a person says: kept as it is, or refused. */
const words = (max: number) => small(max).refine(isWhole, NOT_WHOLE);

/** Any JSON; how deep and how large is checked with the whole body. */
const json = z.unknown().refine((value) => value !== undefined, 'must be given');

const decided = {
  argsHash: z.string().regex(/^[0-9a-f]{64}$/),
  reason: words(2_000).optional(),
  /** Of the question; needed while the store is away. */
  runId: id.optional(),
};

export const decision = z.discriminatedUnion('decision', [
  z.strictObject({
    decision: z.literal('approve'),
    ...decided,
    amount: z.number().int().positive().optional(),
    grant: z
      .strictObject({
        matcher: z.strictObject({ tool: small(128), when: z.array(z.unknown()).max(20) }),
        uses: z.number().int().positive(),
        expiresInMs: z.number().int().positive(),
      })
      .optional(),
  }),
  z.strictObject({ decision: z.literal('reject'), ...decided }),
  z.strictObject({ decision: z.literal('modify'), ...decided, args: json }),
  z.strictObject({ decision: z.literal('replace'), ...decided, args: json, tool: small(128) }),
  z.strictObject({ decision: z.literal('happened'), ...decided, value: z.unknown().optional() }),
  z.strictObject({ decision: z.literal('not_happened'), ...decided }),
  z.strictObject({ decision: z.literal('stop'), ...decided }),
]);
export type DecisionBody = z.output<typeof decision>;

export const delivery = z.object({
  askId: text,
  runId: text,
  /** `sent`: no worker answered, or the store is away; whether it counts, the run's events tell. */
  state: z.enum(['decided', 'pending', 'sent']),
  outcome: text.optional(),
  /** Of an approval that counts: no worker has the call's code now. `a worker with NAME@VERSION`. */
  waitsFor: text.optional(),
  storeAway: z.literal(true).optional(),
});

export const answerBody = z.strictObject({
  value: json.refine(isWhole, NOT_WHOLE),
  runId: id.optional(),
});
export const messageBody = z.strictObject({ text: words(8_192), id: small(200).optional() });
export const emptyBody = z.strictObject({});

export const event = z.looseObject({
  type: text,
  stamp: z.looseObject({ seq: z.number().int(), at: time }),
});
export const eventsPage = z.object({
  events: z.array(event),
  nextSeq: z.number().int(),
  epoch: z.number().int(),
});

export const transcript = z.looseObject({
  id: text,
  agent: text,
  title: text,
  messages: z.array(z.looseObject({ messageId: text, role: z.enum(['user', 'assistant']) })),
});

export const person = z.object({
  id: text,
  name: text,
  tenant: text,
  roles: z.array(text),
  via: z.enum(['local', 'jwt', 'service']),
  may: z.array(z.enum(['answer', 'read', 'message', 'interrupt', 'freeze', 'audit'])),
});

export const auditRow = z.object({
  tenant: text,
  seq: z.number().int(),
  at: time,
  kind: z.enum(AUDIT_KINDS),
  by: text.optional(),
  runId: text.optional(),
  askId: text.optional(),
  facts: z.record(text, z.unknown()),
  prev: text,
  hash: text,
});

export const auditHead = z.object({
  v: z.literal(1).optional(),
  tenant: text,
  seq: z.number().int(),
  hash: text,
  at: time.optional(),
  kid: text.optional(),
  signature: text.optional(),
});
