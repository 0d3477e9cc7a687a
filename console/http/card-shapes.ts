/** Shapes of a question with all that a person decides on: its card, its grounds, and what became of it. */
import { z } from 'zod';
import { RECOVERY_STEPS } from '../../core/state/recovery.js';
import { GOAL_ASKS } from '../goals/goal-card.js';
import { RECEIPT_STATES } from '../receipt.js';
import { freezeFacts } from './control-shapes.js';
import { excerpt } from './excerpt-shape.js';
import { ask, time } from './shapes.js';

const text = z.string();

const vote = z.object({ by: text, decision: text, decidedAt: time });
/** Whether a webhook has been told. */
const notice = z.object({
  webhook: text,
  state: z.enum(['waiting', 'sent', 'given_up']),
  tries: z.number().int(),
  nextAt: time.optional().describe('while it waits: when it is tried next'),
  fault: text.optional().describe('what went wrong in the last try'),
});
const action = z.object({ tool: text, args: z.unknown() });
/** What became of the action after its question was decided; of a clarifying question: the answer. */
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

const stepShown = z.object({ title: text, status: text, note: text.optional() });
/** What a question of a goal is about. */
const goalCard = z.object({
  about: z.enum(GOAL_ASKS),
  objective: text,
  cycle: z.number().int().optional(),
  agent: text.optional(),
  brief: text.optional().describe('digest of the brief of that cycle'),
  slice: z.record(text, z.union([z.number(), text])).optional(),
  plan: z
    .array(
      z.object({
        id: text,
        change: z.enum(['added', 'dropped', 'changed']),
        before: stepShown.optional(),
        after: stepShown.optional(),
      }),
    )
    .optional()
    .describe('what would change of the plan'),
});

export const inboxItem = ask.extend({
  goal: goalCard.optional(),
  agent: text.optional(),
  frozen: z.object(freezeFacts).optional().describe('the freeze that covers it at this moment'),
  receipt: receipt.optional(),
  approvedBy: z
    .array(text)
    .optional()
    .describe('of one that expired where several had to: who had approved'),
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
      kind: z.enum(['user', 'tool', 'brief']),
      part: z
        .object({ origin: text, cycle: z.number().int(), by: text })
        .optional()
        .describe('of a cycle: what its goal quoted to it as data'),
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
      in: z.enum(['task', 'user', 'tool', 'brief']),
      part: z.object({ origin: text, cycle: z.number().int() }).optional(),
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
