/**
 * The company's refund process: an ordinary Temporal workflow on its own worker and task queue. It owns the
 * order of the steps; the agents do the two uncertain parts as child workflows on the Holdfast worker.
 *
 * The investigating agent cannot pay. The paying agent can do nothing else, and asks a refund manager first.
 * What was paid is read from the shop's books, not from what an agent says.
 */
import { proxyActivities, workflowInfo } from '@temporalio/workflow';
// In your project: import { runAgent } from 'holdfast/workflows';
import { runAgent, type RunResult } from '../../../workflows/index.js';
import type { BusinessActivities, PaidRefund } from './activities.js';
import { readInvestigation, type Investigation } from './investigation.js';
import { AGENT_QUEUE } from './queues.js';

export interface RefundRequested {
  readonly orderId: string;
  readonly customer: string;
  readonly message: string;
}

export interface RefundDecided {
  /** 'undecided': an agent stopped early, and a person has to look. */
  readonly outcome: 'paid' | 'not_supported' | 'not_paid' | 'undecided';
  readonly reason: string;
  /** What the customer is told. */
  readonly answer: string;
  readonly refunds: readonly PaidRefund[];
  /** Run ids of the agents, in the order they ran. */
  readonly runs: readonly string[];
  readonly costMicroUsd: number;
}

const LATER = 'A colleague will look into your request.';

const shop = proxyActivities<BusinessActivities>({
  startToCloseTimeout: '10s',
  retry: { maximumAttempts: 10 },
});

export async function refundProcess(request: RefundRequested): Promise<RefundDecided> {
  const runs: string[] = [];
  const child = (kind: string): { readonly runId: string; readonly taskQueue: string } => {
    const runId = `${workflowInfo().workflowId}.${kind}`;
    runs.push(runId);
    return { runId, taskQueue: AGENT_QUEUE };
  };

  const investigated = await runAgent(investigationOf(request), child('investigation'));
  const investigation = readInvestigation(investigated, request.orderId);
  if (!investigation.supported)
    return withoutPayment(request, investigation, { investigated, runs });

  const paid = await runAgent(paymentOf(request, investigation), child('payment'));
  // The money is moved under keys that begin with the run's id, so this finds exactly what this run paid.
  const refunds = await shop.refundsPaidBy({ orderId: request.orderId, runId: paid.runId });
  const costMicroUsd = investigated.costMicroUsd + paid.costMicroUsd;
  const facts = { answer: answerOf(paid), refunds, runs, costMicroUsd };
  if (refunds.length > 0) return { ...facts, outcome: 'paid', reason: investigation.reason };
  if (paid.completed) return { ...facts, outcome: 'not_paid', reason: 'No payment was made.' };
  return { ...facts, outcome: 'undecided', reason: paid.detail ?? paid.stopReason };
}

function withoutPayment(
  { orderId }: RefundRequested,
  { reason }: Investigation,
  done: { readonly investigated: RunResult; readonly runs: readonly string[] },
): RefundDecided {
  const { investigated, runs } = done;
  const facts = { reason, refunds: [], runs, costMicroUsd: investigated.costMicroUsd };
  if (!investigated.completed) return { ...facts, outcome: 'undecided', answer: LATER };
  const answer = `We looked into order ${orderId} and cannot refund it. ${reason}`;
  return { ...facts, outcome: 'not_supported', answer };
}

type AgentInput = Parameters<typeof runAgent>[0];

function investigationOf({ orderId, customer, message }: RefundRequested): AgentInput {
  return {
    agent: 'refund-investigator',
    task: {
      goal: `Decide whether the evidence supports a refund for order ${orderId}. The customer wrote: ${message}`,
      caller: `customer:${customer}`,
      // No answer is accepted before all three have been read.
      requiredEvidence: [
        { id: 'order', satisfiedBy: 'read_order' },
        { id: 'delivery', satisfiedBy: 'read_delivery_status' },
        { id: 'policy', satisfiedBy: 'search_refund_policy' },
      ],
      metadata: { orderId },
    },
  };
}

function paymentOf(request: RefundRequested, investigation: Investigation): AgentInput {
  const { orderId, customer } = request;
  const { amountCents, reason } = investigation;
  return {
    agent: 'refund',
    task: {
      goal: `Refund order ${orderId} with ${amountCents} cents and tell the customer. The investigation is done and found: ${reason}`,
      caller: `customer:${customer}`,
      constraints: [`Pay exactly ${amountCents} cents for order ${orderId}, once.`],
      allowedActions: ['payments.issue_refund'],
      metadata: { orderId, amountCents },
    },
  };
}

function answerOf(result: RunResult): string {
  if (result.answer === undefined) return LATER;
  return 'text' in result.answer ? result.answer.text : result.answer.preview;
}
