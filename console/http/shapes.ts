/** Shapes that the API takes and gives. */
import { z } from 'zod';
import { AUDIT_KINDS } from '../../pure/audit.js';
import { ACCESSES } from '../identity/access.js';
import { LIMIT_SCOPES } from '../../core/controls/limits-across-runs.js';
import { REASON_CHARS_MAX } from '../../core/messages/reason-limit.js';
import { STORED_STATUSES } from '../../core/state/view.js';
import { LISTED_STATUSES } from '../../pure/listed-status.js';
import { textDefect } from '../../pure/text-defect.js';
import { notAllowedText } from './texts.js';

const ID_CHARS_MAX = 400;

/** An id from outside: bounded, and as keys can hold it. */
export const id = z
  .string()
  .min(1)
  .max(ID_CHARS_MAX)
  .refine((text) => text.trim() !== '' && !notAllowedText(text), 'must be readable characters')
  .meta({ example: 'run_01J' });

export const underRun = id
  .optional()
  .describe('questions of this run and of the sub-agents below it');

export const limit = z.coerce.number().int().min(1).max(200).default(50);
export const cursor = z.string().min(1).max(1_000).optional();

export const time = z.number().int().describe('ms since epoch');
const text = z.string();
export const runStatus = z.enum(STORED_STATUSES);
/** Of runs, as lists tell it. */
export const listedStatus = z.enum(LISTED_STATUSES);

/** Of a sub-agent. */
const treePlace = {
  root: text.optional().describe('of a sub-agent: run id of the root of its tree'),
  agentPath: z
    .array(text)
    .optional()
    .describe('of a sub-agent: the agents from the root of its tree to it'),
};

const fork = z.object({ runId: text, step: z.number().int(), at: time });

export const run = z.object({
  runId: text,
  ...treePlace,
  forked: fork
    .omit({ at: true })
    .optional()
    .describe('of a fork: the run that it began from, and after which step'),
  agent: text,
  status: text.describe(
    'also `terminated` and `timed_out`, of a run that Temporal ended without a result',
  ),
  unknown: z
    .literal(true)
    .optional()
    .describe('The run has no result, and Temporal knows nothing of it, or nothing any more.'),
  notStored: z
    .literal(true)
    .optional()
    .describe('The run has ended, and the store, an older copy, has no result of it.'),
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
  kind: z.literal('goal').optional().describe('the id is that of a goal: GET /v1/goals/{goalId}'),
  sessionId: text.optional(),
  result: z.unknown().optional(),
  pending: z.array(z.unknown()),
  forks: z.array(fork).describe('forks of the run, the newest first: where each began'),
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

/** What the server of a tool asks in the middle of its call. */
const elicitation = z.object({
  connector: text,
  message: text,
  mode: z.enum(['form', 'url']),
  schema: z.unknown().optional().describe('with `form`: JSON Schema of the answer'),
  url: text.optional().describe('with `url`: shown to the person, and opened by nobody else'),
  problem: text.optional().describe('why the answer before this question was none'),
  again: z.literal(true).optional().describe('an answer begins the call anew'),
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
  ...treePlace,
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
  steeredBy: z
    .array(text)
    .optional()
    .describe('of a goal: they said something to it since its last cycle, and do not decide'),
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
  elicitation: elicitation.optional(),
});

/** Of every list that an older copy of the store may lack rows of. */
export const restored = {
  restoredAt: time
    .optional()
    .describe(
      'when it was noticed, in the last 30 days, that an older copy of the store had taken its place: what was stored between is not in it',
    ),
};

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
  ...restored,
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
        nextAt: time.optional().describe('when it is tried again, while that is to come'),
      }),
    )
    .describe('The longest wait first.'),
});

const small = (max: number) => z.string().trim().min(1).max(max);
const NOT_WHOLE = 'must have neither NUL nor half of a surrogate pair';
const isWhole = (value: unknown): boolean => textDefect(value) === undefined;
/** Kept to the last space: what is compared with what the goal has. */
export const exactWords = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => text.trim() !== '', 'must not be blank')
    .refine(isWhole, NOT_WHOLE);
/** What a person says, without the space around it; or refused. */
export const words = (max: number) => small(max).refine(isWhole, NOT_WHOLE);

/** Any JSON; how deep and how large is checked with the whole body. */
const json = z.unknown().refine((value) => value !== undefined, 'must be given');

const decided = {
  argsHash: z.string().regex(/^[0-9a-f]{64}$/),
  reason: words(REASON_CHARS_MAX).optional(),
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

/** What a reply cites. */
export const cited = z
  .array(z.looseObject({ kind: z.enum(['url', 'document']), title: text.optional() }))
  .optional()
  .describe('what the text cites: of a `url` with its address');

export const transcript = z.looseObject({
  id: text,
  agent: text,
  title: text,
  messages: z.array(
    z.looseObject({ messageId: text, role: z.enum(['user', 'assistant']), sources: cited }),
  ),
  subAgents: z
    .array(z.looseObject({ runId: text, callId: text, agentPath: z.array(text) }))
    .optional()
    .describe(
      'with tree: each with `messages`, null where none are stored, and its own `subAgents`',
    ),
  leftOut: z.literal(true).optional().describe('with tree: there are more than are read'),
});

export const person = z.object({
  id: text,
  name: text,
  tenant: text,
  roles: z.array(text),
  via: z.enum(['local', 'jwt', 'service']),
  may: z.array(z.enum(ACCESSES)),
  recording: z
    .object({ runId: text, file: text })
    .optional()
    .describe('the desk shows this recorded run alone, and changes nothing'),
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
