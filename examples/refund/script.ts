/**
 * What the scripted model answers, so that the demo runs without a key. It stands in for the words of a model,
 * nothing else: requests, tools, approval and payment are real. Like any script it is a function of the
 * request; the facts it uses are those that the tools returned.
 */
import type { Script } from '../../testing/index.js';
import { exhaustedScript, factsOf, type Facts } from './script-facts.js';

type Answer = ReturnType<Script>;
type Step = (facts: Facts) => Answer;

const FULL_REFUND_FROM_DAYS = 6;
const REPLIES_MAX = 6;

const INVESTIGATION: readonly Step[] = [
  ({ orderId }) => ({
    text: `I will look at order ${orderId} first.`,
    calls: [{ tool: 'read_order', input: { orderId } }],
  }),
  ({ orderId }) => ({
    text: 'Next: when did it arrive, and what does the policy say about that?',
    calls: [
      { tool: 'read_delivery_status', input: { orderId } },
      { tool: 'search_refund_policy', input: { words: 'late delivery lost' } },
    ],
  }),
  (facts) => ({
    text: 'The evidence is complete.',
    calls: [{ tool: 'draft_refund_recommendation', input: recommendation(facts) }],
  }),
  (facts) => {
    const { supported, orderId, amountCents, reason } = recommendation(facts);
    return { text: JSON.stringify({ supported, orderId, amountCents, reason }) };
  },
];

/** The paying agent's task names order and amount: "Refund order O-104 with 8950 cents …". */
const PAYMENT: readonly Step[] = [
  ({ orderId, goal }) => ({
    text: `The investigation supports this refund. I propose the payment.`,
    calls: [
      {
        tool: 'payments.issue_refund',
        input: {
          orderId,
          amountCents: Number(/(\d+) cents/.exec(goal)?.[1] ?? 0),
          reason: 'Delivered late; refunded by the policy.',
        },
      },
    ],
  }),
  ({ orderId, refund, lastError }) => ({
    text:
      refund === undefined
        ? `We could not refund order ${orderId} now${lastError === undefined ? '' : ` (${lastError})`}. A colleague will get back to you.`
        : `We are sorry that order ${orderId} reached you so late. We have refunded ${dollars(refund.amountCents)} to your card; the reference is ${refund.refundId}.`,
  }),
];

/**
 * The script of both agents; which one asks shows in the tools it is offered. Where the evidence is missing,
 * the investigator is sent back, and says the same again.
 */
export const refundScript: Script = (request) => {
  const steps = request.tools.includes('draft_refund_recommendation') ? INVESTIGATION : PAYMENT;
  const { assistantMessages } = request;
  if (assistantMessages >= REPLIES_MAX) return exhaustedScript(REPLIES_MAX);
  const step = steps[Math.min(assistantMessages, steps.length - 1)];
  return step?.(factsOf(request)) ?? exhaustedScript(0);
};

interface Recommendation {
  readonly [name: string]: string | number | boolean;
  readonly orderId: string;
  readonly supported: boolean;
  readonly amountCents: number;
  readonly policySection: string;
  readonly reason: string;
}

function recommendation({ orderId, order, delivery }: Facts): Recommendation {
  if (order === undefined || delivery === undefined) {
    return no(orderId, `Order ${orderId} or its delivery is not known.`);
  }
  const { daysLate } = delivery;
  if (delivery.status !== 'delivered') return no(orderId, 'It has not been delivered yet.');
  if (daysLate === 0) return no(orderId, 'It was delivered on time.');
  const full = daysLate >= FULL_REFUND_FROM_DAYS;
  return {
    orderId,
    supported: true,
    amountCents: full ? order.totalCents : order.shippingCents,
    policySection: full ? 'R1' : 'R2',
    reason: `Delivered ${daysLate} days late; policy ${full ? 'R1 refunds the order in full' : 'R2 refunds the shipping'}.`,
  };
}

function no(orderId: string, reason: string): Recommendation {
  return { orderId, supported: false, amountCents: 0, policySection: 'none', reason };
}

function dollars(cents: number): string {
  return `${(cents / 100).toFixed(2)} USD`;
}
