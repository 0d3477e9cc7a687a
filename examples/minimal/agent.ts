import { z } from 'zod';
import { defineAgent, defineConfig, defineTool } from '../../index.js';

const readOrder = defineTool({
  name: 'read_order',
  version: '1',
  effect: 'read', // repeated freely; 'financial', 'send', 'delete' … run once and wait for a person
  input: z.object({ orderId: z.string() }),
  run: ({ orderId }) => ({ orderId, status: 'delivered', deliveredOn: '2026-03-19' }),
});

const orders = defineAgent({
  name: 'orders',
  model: 'anthropic/claude-sonnet-5-5',
  instructions: 'Answer questions about orders, in one sentence, from what the tools say.',
  tools: [readOrder],
  budget: { maxCostUsd: 0.1, maxTurns: 5 },
});

export const config = defineConfig({ agents: [orders] });
