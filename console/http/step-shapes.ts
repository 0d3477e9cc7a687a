/** Shapes of recorded runs: their steps, a moment of one, two of them compared. */
import { z } from 'zod';
import { cited, time } from './shapes.js';

const stepLine = {
  step: z.number().int().describe('from 1'),
  segment: z.number().int(),
  eventId: z.number().int().describe('of the history, at which the worker began to decide'),
  at: time,
  inputs: z.array(z.object({ type: z.string(), id: z.string().optional() })),
  effects: z.array(
    z.object({
      kind: z.string(),
      id: z.string(),
      summary: z.string(),
      tool: z.string().optional(),
      call: z.number().int().optional(),
    }),
  ),
  events: z
    .array(z.number().int())
    .length(2)
    .describe('numbers, from the first to before the second'),
};

const source = z.enum(['file', 'run']);
const kind = z.enum(['run', 'goal']);

export const stepsIndex = z.object({
  runId: z.string(),
  kind,
  source,
  steps: z.array(z.object({ ...stepLine, rules: z.array(z.string()) })),
  divergences: z
    .array(z.looseObject({ step: z.number().int(), segment: z.number().int(), reason: z.string() }))
    .describe('where the code of today decides otherwise than the record'),
  redactions: z.array(z.object({ rule: z.string(), count: z.number().int() })),
});

const decision = {
  ...stepLine,
  rules: z.array(z.object({ rule: z.string(), says: z.string().optional() })),
  why: z.array(z.looseObject({ words: z.string() })),
};

const block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  tool: z.string().optional(),
  args: z.unknown().optional(),
  isError: z.boolean().optional(),
});

const asked = z.looseObject({
  step: z.number().int().describe('that began it'),
  call: z.number().int(),
  model: z.string().optional(),
  system: z.string().optional(),
  tools: z.array(z.looseObject({ name: z.string() })).optional(),
  messages: z.array(z.looseObject({ role: z.string(), blocks: z.array(block) })).optional(),
  earlierMessages: z
    .number()
    .int()
    .optional()
    .describe('messages before those that are told; absent: all are told'),
  missing: z.string().optional().describe('why no more of it is told'),
});

export const moment = z.object({
  ...decision,
  runId: z.string(),
  kind,
  source,
  steps: z.number().int().describe('of the run in all'),
  view: z.looseObject({
    status: z.string(),
    asks: z.array(
      z.looseObject({
        askId: z.string(),
        kind: z.string(),
        tool: z.string().optional(),
        question: z.string().optional(),
      }),
    ),
    inFlight: z.array(z.looseObject({ id: z.string(), kind: z.string() })),
  }),
  calls: z.array(
    z.looseObject({ id: z.string(), tool: z.string(), args: z.unknown(), stage: z.string() }),
  ),
  request: asked.optional(),
  reply: z
    .looseObject({
      step: z.number().int().describe('that received it'),
      call: z.number().int().optional(),
      stop: z.string(),
      text: z.string().optional(),
      refusal: z.string().optional(),
      sources: cited,
      calls: z.array(z.looseObject({ id: z.string(), tool: z.string(), args: z.unknown() })),
      missing: z.string().optional().describe('why its text is not told'),
    })
    .optional()
    .describe('the newest reply since the request was begun, in that step or behind it'),
  answered: asked
    .optional()
    .describe('the request that the reply answers, where it is another one'),
  next: z.object(decision).optional(),
  state: z.looseObject({}),
});

const side = z
  .object({
    step: z.number().int().optional(),
    seq: z.number().int().describe('of its event'),
    turn: z.number().int(),
    type: z.string(),
    rule: z.string().optional(),
    says: z.string(),
    action: z.unknown(),
    words: z.unknown(),
  })
  .nullable()
  .describe('null: this run has ended');

const row = z.object({
  a: side,
  b: side,
  differs: z.boolean(),
  fields: z
    .array(z.string())
    .optional()
    .describe('names of what differs in action and words, of entries of one type'),
});

const ending = z.object({
  runId: z.string(),
  stopReason: z.string().nullable(),
  detail: z.string().nullable(),
  costMicroUsd: z.number().int().nullable(),
  turns: z.number().int().nullable(),
  toolCalls: z.number().int().nullable(),
});

export const diff = z.object({
  equal: z.boolean(),
  differsIn: z.enum(['nothing', 'text', 'action']),
  first: row.optional().describe('where each path stands once they differ'),
  decision: row.optional().describe('the first decision that came out differently'),
  why: z.string(),
  textDifferences: z.number().int(),
  actionsApart: z
    .number()
    .int()
    .optional()
    .describe(
      'actions of both runs that stand more than 256 rows apart, and not beside their like',
    ),
  a: ending,
  b: ending,
  rows: z.array(row).describe('both paths from the first difference on, the same beside the same'),
  rowsLeftOut: z.number().int().optional(),
});
