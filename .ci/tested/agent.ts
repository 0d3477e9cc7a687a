/** The agent that the three runners test, with schemas of three libraries. */
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import { defineAgent, defineTool } from 'holdfast';
import { calls, type AgentTest } from 'holdfast/testing';
import * as v from 'valibot';
import { z } from 'zod';

const readOrder = defineTool({
  name: 'orders.read',
  version: '1',
  effect: 'read',
  input: z.object({ orderId: z.string() }),
  output: z.object({ status: z.enum(['open', 'delivered']) }),
  run: ({ orderId }) => ({ status: orderId === 'O-1' ? 'open' : 'delivered' }),
});

const noteOrder = defineTool({
  name: 'orders.note',
  version: '1',
  effect: 'write',
  input: toStandardJsonSchema(
    v.object({ orderId: v.string(), note: v.pipe(v.string(), v.maxLength(5)) }),
  ),
  run: ({ orderId, note }) => `${orderId.toLowerCase()} ${note.length}`,
});

const refund = defineTool({
  name: 'payments.refund',
  version: '1',
  effect: 'financial',
  approval: { roles: ['lead'] },
  input: type({ orderId: 'string', amount: '0 < number <= 100' }),
  run: ({ orderId, amount }) => `${orderId.toLowerCase()} ${amount.toFixed(2)}`,
});

export const agent = defineAgent({
  name: 'refunds',
  model: 'anthropic/claude-sonnet-5-5',
  instructions: 'Handle refunds.',
  tools: [readOrder, noteOrder, refund],
});

export const refunds: AgentTest = {
  goal: 'Refund order O-17.',
  model: [
    calls('orders.read', { orderId: 'O-17' }),
    calls('orders.note', { orderId: 'O-17', note: 'much too long' }),
    calls('orders.note', { orderId: 'O-17', note: 'short', more: 1 }),
    calls('payments.refund', { orderId: 'O-17', amount: 101 }),
    calls('payments.refund', { orderId: 'O-17', amount: 30 }),
    'Refunded.',
  ],
  unfaked: 'own',
  approvals: () => 'approve',
};
