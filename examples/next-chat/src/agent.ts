import { defineAgent, defineTool, usd, type ModelScript } from 'holdfast';
import { z } from 'zod';

const orderId = z.string().regex(/^O-\d{1,10}$/);

const readOrder = defineTool({
  name: 'read_order',
  version: '1',
  description: 'An order: what it is, and what it cost.',
  effect: 'read',
  input: z.object({ orderId }),
  run: (input) => ({ orderId: input.orderId, item: 'A blue cup', cents: 4_999 }),
});

const issueRefund = defineTool({
  name: 'issue_refund',
  version: '1',
  description: 'Pays money back to the customer of an order.',
  effect: 'financial', // runs once, and only after a person's word
  idempotency: 'keyed',
  input: z.object({ orderId, amountCents: z.number().int().positive().max(50_000) }),
  // A payment service would be called here, with the key.
  run: (input, { idempotencyKey }) => ({ refundId: idempotencyKey, orderId: input.orderId }),
});

export const support = defineAgent({
  name: 'support',
  model: 'scripted/support', // or 'anthropic/claude-sonnet-5-5', with ANTHROPIC_API_KEY
  instructions: 'Help with orders. Read an order before you pay a refund, and pay each once.',
  tools: [readOrder, issueRefund],
  budget: { maxCostMicroUsd: usd(0.5), maxTurns: 12 },
});

/** What answers while there is no key: a function of the conversation so far. */
export const script: ModelScript = ({ messages }) => {
  const last = JSON.stringify(messages.at(-1));
  const id = /O-\d{1,10}/.exec(JSON.stringify(messages))?.[0];
  if (last.includes('refundId')) return { text: 'The refund is paid.' };
  if (last.includes('A blue cup')) return { text: 'The order is a blue cup for 49.99 USD.' };
  if (last.includes('tool_result')) return { text: 'Nothing was paid.' };
  if (id === undefined) return { text: 'Which order is it? Try O-104.' };
  return /refund|money back/i.test(last)
    ? { calls: [{ tool: 'issue_refund', input: { orderId: id, amountCents: 4_999 } }] }
    : { calls: [{ tool: 'read_order', input: { orderId: id } }] };
};
