/**
 * Sending a decision to its run.
 * Invariant: it is sent as an Update, whose answer says whether it counts, and as a signal when no worker can
 * answer now.
 */
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import type { Decision, RejectionReason, Verdict } from '../../core/state/ask.js';
import { digestOf, type Json } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import { parseDecision } from '../../core/messages/parse-message.js';
import * as messages from '../../workflows/messages.js';
import { bounded, workerLimitOf, type Link } from '../link.js';
import { executionOf } from '../runs/execution.js';

/** How a decision got to its run. After a signal nobody knows yet whether it counts. */
export type Delivery = (
  | { readonly delivered: 'update'; readonly verdict: Verdict }
  /** `storeAway`: the store could not be reached; the run tells the audit trail when it is back. */
  | { readonly delivered: 'signal'; readonly storeAway?: true }
) & {
  /** Of an approval that counts: what the call waits for, as `a worker with NAME@VERSION`. Absent: nothing. */
  readonly waitsFor?: string;
};

/** Delivers a decision and gives the run's verdict, also when that is a refusal. */
export function deliver(link: Link, runId: string, decision: Decision): Promise<Delivery> {
  return deliverUnder(link, runId, { decision });
}

export interface Sending {
  readonly decision: Decision;
  /** Under the same name the run gives the same answer again; default: {@link updateNameOf}. */
  readonly updateId?: string;
  /** As a signal: nobody waits for what the run says of it. */
  readonly unheard?: boolean;
}

export async function deliverUnder(
  link: Link,
  runId: string,
  { decision, updateId, unheard = false }: Sending,
): Promise<Delivery> {
  const parsed = parseDecision(decision);
  if (!parsed.ok) return refusal('malformed', parsed.reason);
  const handle = link.temporal.workflow.getHandle(runId);
  const named = { ...decision, nonce: decision.nonce ?? digestOf(decision as unknown as Json) };
  if (unheard) return signalled(link, runId, named);
  try {
    const bound = { runId, limitMs: workerLimitOf(link), needsWorker: true };
    const verdict = await bounded(link, bound, () =>
      update(handle, named, updateId ?? updateNameOf(named)),
    );
    return { delivered: 'update', verdict };
  } catch (error) {
    if (await endedMeanwhile(link, runId, error)) return closed(runId);
    if (!isSilence(error)) throw error;
  }
  // The run may get both in the end; by its nonce it counts once.
  return signalled(link, runId, named);
}

/** The same for the same words of the same person: somebody else's decision under its nonce is another one. */
export function updateNameOf(decision: Decision): string {
  const { nonce = '', by, value, args, tool, amount, grant } = decision;
  const given = Object.entries({ value, args, tool, amount, grant });
  const said = given.filter(([, part]) => part !== undefined);
  return `${nonce}:${digestOf([by, decision.decision, said] as unknown as Json).slice(0, 32)}`;
}

async function signalled(link: Link, runId: string, decision: Decision): Promise<Delivery> {
  try {
    await bounded(link, { runId }, () =>
      link.temporal.workflow.getHandle(runId).signal(messages.resolveApproval, decision),
    );
    return { delivered: 'signal' };
  } catch (error) {
    if (await endedMeanwhile(link, runId, error)) return closed(runId);
    throw error;
  }
}

type Handle = ReturnType<Link['temporal']['workflow']['getHandle']>;

async function update(handle: Handle, decision: Decision, updateId: string): Promise<Verdict> {
  try {
    return await handle.executeUpdate(messages.decide, {
      args: [decision],
      // The same decision sent again gets the same answer.
      updateId,
    });
  } catch (error) {
    if (!(error instanceof WorkflowUpdateFailedError)) throw error;
    // The run was cancelled while this was under way: nothing is wrong with what was said, and the run may still count it.
    if (error.cause instanceof CancelledFailure)
      return { accepted: false, reason: 'run_closing', message: 'the run is ending' };
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    return { accepted: false, reason: 'malformed', message: reason };
  }
}

function refusal(reason: RejectionReason, message: string): Delivery {
  return { delivered: 'update', verdict: { accepted: false, reason, message } };
}

function closed(runId: string): Delivery {
  return refusal('run_closing', `run ${runId} has ended`);
}

/** Of an Update that was on its way when its run ended the server says no more than that there is none. */
async function endedMeanwhile(link: Link, runId: string, error: unknown): Promise<boolean> {
  if (!(error instanceof HoldfastError) || error.code !== 'RunNotFound') return false;
  if (error.details?.ended === true) return true;
  return executionOf(link, runId, 'brief').then(
    (execution) => execution.closed,
    () => false,
  );
}

function isSilence(error: unknown): boolean {
  return error instanceof HoldfastError && error.details?.worker === false;
}
