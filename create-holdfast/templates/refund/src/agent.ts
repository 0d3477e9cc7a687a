import { z } from 'zod';
import { defineAgent, defineTool, hours } from 'holdfast';
import { orderOf, payRefund, refundWithKey } from './shop.js';

const orderId = z.string().regex(/^O-\d{1,10}$/, 'an order number looks like O-104');

export const readOrder = defineTool({
  name: 'read_order',
  version: '1',
  description: 'An order: what it is, what it cost, and where it is.',
  effect: 'read',
  input: z.object({ orderId }),
  run: (input) => orderOf(input.orderId),
});

export const issueRefund = defineTool({
  name: 'issue_refund',
  version: '1',
  description: 'Pays money back to the customer of an order. Cannot be undone.',
  effect: 'financial', // runs once, and only after a person's word
  idempotency: 'keyed',
  input: z.object({ orderId, amountCents: z.number().int().positive().max(50_000) }),
  approval: { roles: ['refund-manager'], quorum: 1, expiresInMs: hours(24) },
  // What the question shows first.
  card: {
    amount: { path: 'amountCents', unit: 'minor', currency: 'USD' },
    recipient: 'orderId',
    reference: 'refundId',
  },
  // A second refund of an order is shown with the first.
  identity: (input) => [input.orderId],
  run: (input, ctx) => payRefund(ctx.idempotencyKey, input.orderId, input.amountCents),
  // Asked when an answer was lost: was this key paid?
  probe: (_input, ctx) => refundWithKey(ctx.idempotencyKey),
});

export const refund = defineAgent({
  name: 'refund',
  model: __MODEL__,
  instructions: [
    'You handle refund requests. Read the order first.',
    'Pay with issue_refund at most once, exactly what the order cost. Never try again after a rejection.',
    'End with one or two sentences to the customer that say what was paid, or why nothing was.',
  ].join('\n'),
  tools: [readOrder, issueRefund],
  budget: { maxCostUsd: 0.5, maxTurns: 8, maxToolCalls: 8 },
});
