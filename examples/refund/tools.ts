/** What the refund agents can do. Reads are free; the one tool that pays needs a person's word. */
import { z } from 'zod';
import { defineTool, hours, seconds, type Tool } from '../../index.js';
import type { Shop } from './shop/client.js';

const orderId = z.string().regex(/^O-\d{1,10}$/, 'an order number looks like O-104');

export interface RefundTools {
  readonly readOrder: Tool;
  readonly readDeliveryStatus: Tool;
  readonly searchRefundPolicy: Tool;
  readonly draftRefundRecommendation: Tool;
  readonly issueRefund: Tool;
}

export function refundTools(shop: Shop): RefundTools {
  return {
    ...readingTools(shop),
    draftRefundRecommendation: draftRefundRecommendation(),
    issueRefund: issueRefund(shop),
  };
}

function readingTools(
  shop: Shop,
): Pick<RefundTools, 'readOrder' | 'readDeliveryStatus' | 'searchRefundPolicy'> {
  return {
    readOrder: defineTool({
      name: 'read_order',
      version: '1',
      description: 'An order with its items, its total and its promised delivery date.',
      effect: 'read',
      input: z.object({ orderId }),
      run: (input, ctx) => shop.order(input.orderId, ctx.signal),
    }),
    readDeliveryStatus: defineTool({
      name: 'read_delivery_status',
      version: '1',
      description: 'Where the delivery of an order is, when it arrived, and how late.',
      effect: 'read',
      input: z.object({ orderId }),
      run: (input, ctx) => shop.delivery(input.orderId, ctx.signal),
    }),
    searchRefundPolicy: defineTool({
      name: 'search_refund_policy',
      version: '1',
      description: 'The sections of the refund policy that contain one of the given words.',
      effect: 'read',
      input: z.object({ words: z.string().min(3).max(200) }),
      run: (input, ctx) => shop.searchPolicy(input.words, ctx.signal),
    }),
  };
}

/** Writes nothing anywhere: the recommendation is in the run's record, which is where people read it. */
function draftRefundRecommendation(): Tool {
  return defineTool({
    name: 'draft_refund_recommendation',
    version: '1',
    description: 'Puts a recommendation on record: whether to refund, how much, and by which rule.',
    effect: 'none',
    input: z.object({
      orderId,
      supported: z.boolean(),
      amountCents: z.number().int().min(0),
      policySection: z.string().max(20),
      reason: z.string().min(1).max(1_000),
    }),
    run: (input) => ({ recorded: true, ...input }),
  });
}

function issueRefund(shop: Shop): Tool {
  return defineTool({
    name: 'payments.issue_refund',
    version: '1',
    description: 'Pays money back to the customer of an order. Cannot be undone.',
    effect: 'financial',
    idempotency: 'keyed',
    input: z.object({
      orderId,
      amountCents: z.number().int().positive(),
      reason: z.string().min(1).max(1_000),
    }),
    approval: { roles: ['refund-manager'], quorum: 1, expiresInMs: hours(24) },
    // What the card of the question shows first; the reference is where the shop's answer has it.
    card: {
      amount: { path: 'amountCents', unit: 'minor', currency: 'USD' },
      recipient: 'orderId',
      reference: 'refundId',
      labels: { amountCents: 'Refund', orderId: 'Order' },
    },
    // A second refund of an order is shown with the first; `holdfast effects --order O-104` lists both.
    identity: (input) => [input.orderId],
    timeoutMs: seconds(10),
    run: (input, ctx) => shop.refund({ ...input, key: ctx.idempotencyKey }, ctx.signal),
    // Asked when an answer was lost: did the payment with this key happen?
    probe: (_input, ctx) => shop.findByKey(ctx.idempotencyKey, ctx.signal),
  });
}
