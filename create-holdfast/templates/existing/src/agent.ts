import { z } from 'zod';
import { defineAgent, defineTool } from 'holdfast';

export const readOrder = defineTool({
  name: 'read_order',
  version: '1',
  description: 'An order: what it is, and where.',
  effect: 'read', // repeated freely; 'financial', 'send', 'delete' … run once and wait for a person
  input: z.object({
    orderId: z.string().regex(/^O-\d{1,10}$/, 'an order number looks like O-104'),
  }),
  run: ({ orderId }) => ({ orderId, status: 'delivered', deliveredOn: '2026-03-19' }),
});

/** Reads a complaint and says who should have it: the one uncertain step of the workflow. */
export const triage = defineAgent({
  name: 'triage',
  model: __MODEL__,
  instructions: [
    'A customer complains. Read the order, then decide which team answers.',
    'Answer with one JSON object and nothing else: {"team": "delivery" | "billing" | "quality", "reason": string}.',
  ].join('\n'),
  tools: [readOrder],
  budget: { maxCostUsd: 0.1, maxTurns: 5 },
});
