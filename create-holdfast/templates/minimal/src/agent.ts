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

export const orders = defineAgent({
  name: 'orders',
  model: __MODEL__,
  instructions: 'Answer questions about orders, in one sentence, from what the tools say.',
  tools: [readOrder],
  budget: { maxCostUsd: 0.1, maxTurns: 5 },
});
