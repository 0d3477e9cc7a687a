/** Shapes of runs as a tree. */
import { z } from 'zod';
import { time } from './shapes.js';

const text = z.string();
const whole = z.number().int();

const routeCost = z.object({
  model: text,
  calls: whole.describe('replies of the model'),
  usage: z.object({ input: whole, output: whole, cacheRead: whole, cacheWrite: whole }),
  costMicroUsd: whole,
});

const treeRun = z.object({
  runId: text,
  parent: text.optional().describe('run id of the run or goal that started it'),
  depth: whole.describe('generations below the run that was asked for'),
  kind: z.literal('goal').optional(),
  agentPath: z.array(text).optional(),
  agent: text,
  status: text.describe('of a run, or `not_begun`'),
  stopReason: text.optional(),
  detail: text.optional(),
  startedAt: time.optional(),
  completedAt: time.optional(),
  costMicroUsd: whole.optional().describe('once it has ended, with everything below it'),
  routes: z.array(routeCost).describe('what it paid itself'),
});

export const runTree = z.object({
  runId: text,
  runs: z.array(treeRun).describe('parents before their children'),
  routes: z.array(routeCost).describe('what all of them paid, by route'),
  leftOut: z.literal(true).optional().describe('there are more runs than are told here'),
});
