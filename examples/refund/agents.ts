/** The two agents: one investigates and may change nothing, the other pays what was approved. */
import { defineAgent, minutes, seconds, type Agent } from '../../index.js';
import type { RefundTools } from './tools.js';

const MODEL = 'anthropic/claude-sonnet-5-5';

/** Reads and drafts. It has no tool that could pay. */
export function investigatorAgent(tools: RefundTools): Agent {
  return defineAgent({
    name: 'refund-investigator',
    model: MODEL,
    instructions: [
      'You investigate whether a refund request is supported by evidence. You cannot pay.',
      'Read the order, its delivery status and the refund policy, in that order; search the policy with plain words.',
      'Put your recommendation on record with draft_refund_recommendation, then answer with exactly one JSON',
      'object and nothing else: {"supported": boolean, "orderId": string, "amountCents": integer, "reason": string}.',
      'When evidence is missing, supported is false and amountCents is 0.',
    ].join('\n'),
    tools: [
      tools.readOrder,
      tools.readDeliveryStatus,
      tools.searchRefundPolicy,
      tools.draftRefundRecommendation,
    ],
    budget: { maxCostUsd: 0.5, maxTurns: 10, maxToolCalls: 12, timeoutMs: minutes(5) },
  });
}

/** Pays refunds, each with a refund manager's approval. */
export function refundAgent(tools: RefundTools): Agent {
  return defineAgent({
    name: 'refund',
    model: MODEL,
    instructions: [
      'You handle refund requests of customers of a small shop.',
      'Unless the task says that this has been done, look the order up, check its delivery and the refund policy.',
      'Pay with payments.issue_refund at most once, exactly the amount that the policy or the task gives;',
      'a person is asked to approve it. Never try again after a rejection.',
      'End with two or three friendly sentences to the customer that say what was paid, or why nothing was.',
    ].join('\n'),
    tools: [tools.readOrder, tools.readDeliveryStatus, tools.searchRefundPolicy, tools.issueRefund],
    policy: {
      rules: [
        {
          tool: 'payments.issue_refund',
          decision: 'deny',
          when: { path: 'amountCents', gte: 50_001 },
          reason: 'Refunds above 500 USD are never paid by an agent.',
          terminal: true,
        },
        // Every other refund falls through to the tool's own rule: a refund manager must approve.
      ],
    },
    budget: { maxCostUsd: 0.5, maxTurns: 8, maxToolCalls: 8, timeoutMs: minutes(5) },
    // A payment takes a second, so a worker that died while paying should be noticed soon.
    settings: { heartbeatMs: { repeatable: seconds(5), single: seconds(10) } },
  });
}
