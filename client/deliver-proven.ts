/**
 * Delivering a decision that proves who made it, where this client has a desk's key.
 * Invariants: what is signed is what the run will read: the decision after it has been parsed. A key that was
 * revoked signs nothing, and no run is moved on for a key that it would not be told of.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Decision } from '../core/ask/ask.js';
import { HoldfastError } from '../core/errors.js';
import type { AskView } from '../core/event.js';
import { parseDecision } from '../core/parse-message.js';
import * as messages from '../workflows/messages.js';
import { deliverUnder, type Delivery, type Sending } from './deliver.js';
import { objectionToKey, type KeyObjection } from './key-standing.js';
import { bounded, type Link } from './link.js';

/** How long a run may take to learn of a key that is newer than its segment. */
const KEY_LIMIT_MS = 10_000;
const KEY_POLL_MS = 250;

interface Addressee {
  readonly runId: string;
  readonly ask: AskView;
  /** As in {@link deliverUnder}. */
  readonly updateId?: string;
}

/** Errors: DecisionRejected for a key of the desk that does not count. */
export async function deliverProven(
  link: Link,
  { runId, ask, updateId }: Addressee,
  decision: Decision,
): Promise<Delivery> {
  const parsed = parseDecision(decision);
  const { signer, tenant, store } = link;
  const named = updateId !== undefined && { updateId };
  if (signer === undefined || !parsed.ok) {
    return deliverUnder(link, runId, { decision, ...named });
  }
  const objection = store && (await objectionToKey(store, tenant, signer.key));
  // Of a question that is closed the run says what became of this decision, if it had it before.
  const isOpen = objection && (await store?.getAsk(tenant, ask.askId))?.outcome === 'pending';
  if (isOpen && objection.reason === 'key_revoked') throw keyRefused(objection, { ask, runId });
  const { kind, policyVersion } = ask;
  const signed = signer.signDecision({ tenant, runId, kind, policyVersion }, parsed.value);
  const sending = { decision: signed, ...named };
  const delivery = await deliverUnder(link, runId, sending);
  if (!needsNewerKeys(delivery)) return delivery;
  // A run that requires no proof takes what such a key has signed.
  if (objection !== undefined) throw keyRefused(objection, { ask, runId });
  return deliverToNextSegment(link, runId, sending);
}

function keyRefused(
  { reason, message, hint }: KeyObjection,
  { ask, runId }: Addressee,
): HoldfastError {
  return new HoldfastError('DecisionRejected', `The decision does not count: ${message}.`, {
    hint,
    details: { reason, askId: ask.askId, runId },
  });
}

function needsNewerKeys(delivery: Delivery): boolean {
  if (delivery.delivered !== 'update' || delivery.verdict.accepted) return false;
  return delivery.verdict.reason === 'unknown_key';
}

/** The run was begun before the key was made: its next segment is told of it. */
async function deliverToNextSegment(
  link: Link,
  runId: string,
  { decision, updateId: first = decision.nonce ?? '' }: Sending,
): Promise<Delivery> {
  const handle = link.temporal.workflow.getHandle(runId);
  await bounded(link, { runId }, () => handle.signal(messages.nextSegment));
  const deadline = Date.now() + KEY_LIMIT_MS;
  for (let attempt = 2; ; attempt += 1) {
    await sleep(KEY_POLL_MS);
    // Another name each time: a segment that has just begun may not have been told yet.
    const updateId = `${first}:${attempt}`;
    const delivery = await deliverUnder(link, runId, { decision, updateId });
    if (!needsNewerKeys(delivery) || Date.now() > deadline) return delivery;
  }
}
