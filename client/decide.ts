/**
 * Delivering what a person said.
 * Invariants: a decision names the exact action by its hash, read from the ask and never guessed; it is sent
 * as an Update, whose answer says whether it counts, and as a signal when no worker can answer now.
 */
import { WorkflowUpdateFailedError } from '@temporalio/client';
import type { Decision, DecisionKind, RejectionReason, Verdict } from '../core/ask/ask.js';
import type { GrantRequest } from '../core/ask/grants.js';
import { digestOf } from '../core/digest.js';
import { HoldfastError } from '../core/errors.js';
import type { Json } from '../core/json.js';
import { parseDecision } from '../core/parse-message.js';
import * as messages from '../workflows/messages.js';
import { askOfRun } from './find-ask.js';
import { bounded, WORKER_LIMIT_MS, type Link } from './link.js';

/** How a decision got to its run. After a signal nobody knows yet whether it counts. */
export type Delivery =
  { readonly delivered: 'update'; readonly verdict: Verdict } | { readonly delivered: 'signal' };

/** Who decides, and why. */
export interface Decider {
  readonly by: string;
  readonly roles?: readonly string[];
  readonly reason?: string;
}

export type Answer =
  | { readonly kind: 'happened'; readonly value?: Json }
  | { readonly kind: 'not_happened' }
  | { readonly kind: 'stop' }
  /** The answer to a clarifying question. */
  | { readonly kind: 'text'; readonly value: Json };

/** Delivers a decision and gives the run's verdict, also when that is a refusal. */
export async function deliver(link: Link, runId: string, decision: Decision): Promise<Delivery> {
  const parsed = parseDecision(decision);
  if (!parsed.ok) return refusal('malformed', parsed.reason);
  const handle = link.temporal.workflow.getHandle(runId);
  const named = { ...decision, nonce: decision.nonce ?? digestOf(decision as unknown as Json) };
  try {
    const bound = { runId, limitMs: WORKER_LIMIT_MS, needsWorker: true };
    const verdict = await bounded(link, bound, () => update(handle, named));
    return { delivered: 'update', verdict };
  } catch (error) {
    if (hasEnded(error)) return refusal('run_closing', `run ${runId} has ended`);
    if (!isSilence(error)) throw error;
  }
  // The run may get both in the end; by its nonce it counts once.
  await bounded(link, { runId }, () => handle.signal(messages.resolveApproval, named));
  return { delivered: 'signal' };
}

type Handle = ReturnType<Link['temporal']['workflow']['getHandle']>;

async function update(
  handle: Handle,
  decision: Decision & { readonly nonce: string },
): Promise<Verdict> {
  try {
    return await handle.executeUpdate(messages.decide, {
      args: [decision],
      // The same decision sent again gets the same answer.
      updateId: decision.nonce,
    });
  } catch (error) {
    if (!(error instanceof WorkflowUpdateFailedError)) throw error;
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    return { accepted: false, reason: 'malformed', message: reason };
  }
}

function refusal(reason: RejectionReason, message: string): Delivery {
  return { delivered: 'update', verdict: { accepted: false, reason, message } };
}

function isSilence(error: unknown): boolean {
  return error instanceof HoldfastError && error.details?.worker === false;
}

function hasEnded(error: unknown): boolean {
  return error instanceof HoldfastError && error.details?.ended === true;
}

export interface AskDecision extends Decider {
  readonly askId: string;
  readonly decision: DecisionKind;
  readonly value?: Json;
  /** With modify and replace. */
  readonly args?: Json;
  /** With replace. */
  readonly tool?: string;
  /** With approve. */
  readonly allowing?: Allowance;
}

/** What an approval may say beyond yes. */
export interface Allowance {
  /** Of a budget question: how much more, in the budget's own unit; default: what it asks for. */
  readonly amount?: number;
  /** Covers later calls as well, where the run's settings allow it. */
  readonly grant?: GrantRequest;
}

/** Decides on an ask by its id. Errors: AskNotFound, DecisionRejected with the run's reason. */
export async function decideOnAsk(
  link: Link,
  runId: string,
  wanted: AskDecision,
): Promise<Delivery> {
  const { ask, outcome } = await askOfRun(link, runId, wanted.askId);
  const delivery = await deliver(link, runId, {
    v: 1,
    askId: ask.askId,
    argsHash: ask.argsHash,
    decision: wanted.decision,
    by: wanted.by,
    roles: wanted.roles ?? [],
    decidedAt: Date.now(),
    ...(wanted.reason !== undefined && { reason: wanted.reason }),
    ...(wanted.value !== undefined && { value: wanted.value }),
    ...(wanted.args !== undefined && { args: wanted.args }),
    ...(wanted.tool !== undefined && { tool: wanted.tool }),
    ...wanted.allowing,
  });
  if (delivery.delivered === 'signal' || delivery.verdict.accepted) return delivery;
  const known = outcome === 'pending' ? '' : ` The question is ${outcome}.`;
  throw decisionRejected(delivery.verdict, { askId: ask.askId, runId, known });
}

/** A refusal as an error. */
export function decisionRejected(
  { reason, message }: Extract<Verdict, { accepted: false }>,
  { askId, runId, known = '' }: { askId: string; runId: string; known?: string },
): HoldfastError {
  return new HoldfastError('DecisionRejected', `The decision does not count: ${message}.${known}`, {
    hint: REJECTION_HINTS[reason],
    details: { reason, askId, runId },
  });
}

/** Answers an unknown outcome or a clarifying question. Errors as {@link decideOnAsk}. */
export async function answerAsk(
  link: Link,
  runId: string,
  given: Decider & { readonly askId: string; readonly answer: Answer },
): Promise<Delivery> {
  const { answer, ...who } = given;
  if (answer.kind !== 'text') {
    const value = answer.kind === 'happened' ? answer.value : undefined;
    return decideOnAsk(link, runId, {
      ...who,
      decision: answer.kind,
      ...(value !== undefined && { value }),
    });
  }
  const { ask } = await askOfRun(link, runId, given.askId);
  if (ask.kind !== 'input') {
    throw new HoldfastError('DecisionRejected', `A text is no answer to this question.`, {
      hint: NOT_A_TEXT[ask.kind],
      details: { reason: 'not_applicable', askId: ask.askId, runId, kind: ask.kind },
    });
  }
  const provided = { askId: ask.askId, value: answer.value, by: given.by };
  await bounded(link, { runId }, () =>
    link.temporal.workflow.getHandle(runId).signal(messages.provideInput, provided),
  );
  return { delivered: 'signal' };
}

const NOT_A_TEXT = {
  approval: 'Use `holdfast approve` or `holdfast reject`.',
  budget: 'Use `holdfast approve` or `holdfast reject`.',
  outcome: 'Answer happened, not_happened or stop.',
  user_message: 'Send a message with `holdfast message`.',
  input: 'Give a text.',
} as const;

const REJECTION_HINTS: { readonly [reason in RejectionReason]: string } = {
  unknown_ask: 'List what waits for a person with `holdfast approvals`.',
  mismatched: 'The question has changed; look at it again with `holdfast approvals`.',
  vague: 'Name the exact action by its hash.',
  late: 'The question had expired; see what the run did with `holdfast show`.',
  duplicate: 'Each person decides once; another person may decide as well.',
  already_decided: 'See the decision with `holdfast show`.',
  role_missing: 'Decide with one of the roles that the question names (--role).',
  own_request: 'Let another person decide; nobody decides on their own request.',
  busy: 'See what became of the other correction with `holdfast approvals`.',
  correction_refused: 'Correct it otherwise, or decide on the call as it is.',
  not_applicable:
    'Approvals take approve, reject, modify or replace; unknown outcomes happened, not_happened or stop.',
  malformed: 'Correct the decision and send it again.',
  run_closing: 'The run is ending or has ended; see it with `holdfast show`.',
};
