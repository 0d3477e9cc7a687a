/**
 * Delivering a decision that proves who made it, where this client has a desk's key.
 * Invariants: what is signed is what the run will read: the decision after it has been parsed. A key that was
 * revoked signs nothing, and no run is moved on for a key that it would not be told of.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Decision } from '../../core/state/ask.js';
import type { DeskKey } from '../../core/state/statement.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { AskView } from '../../core/state/ask-view.js';
import { parseDecision } from '../../core/messages/parse-message.js';
import * as messages from '../../workflows/messages.js';
import { deliverUnder, updateNameOf, type Delivery, type Sending } from './deliver.js';
import { objectionToKey, type KeyObjection } from './key-standing.js';
import { bounded, type Link } from '../link.js';
import { STORE_AWAY, unlessStoreAway } from '../store-away.js';

/** How long a run may take to learn of a key that is newer than its segment. */
const KEY_LIMIT_MS = 10_000;
const KEY_POLL_MS = 250;

interface Addressee {
  readonly runId: string;
  readonly ask: AskView;
  /** As in {@link deliverUnder}. */
  readonly updateId?: string;
  /** The store cannot say whether the key counts: the run does, and whoever executes asks the store again. */
  readonly storeAway?: boolean;
}

/** Errors: DecisionRejected for a key of the desk that does not count. */
export async function deliverProven(
  link: Link,
  { runId, ask, updateId, storeAway = false }: Addressee,
  decision: Decision,
): Promise<Delivery> {
  const parsed = parseDecision(decision);
  const { signer, tenant } = link;
  const named = updateId !== undefined && { updateId };
  if (signer === undefined || !parsed.ok) {
    const sent = await deliverUnder(link, runId, { decision, ...named, unheard: storeAway });
    return storeAway && sent.delivered === 'signal' ? { ...sent, storeAway } : sent;
  }
  const standing = storeAway ? STORE_AWAY : await standingOf(link, ask.askId, signer.key);
  const unheard = standing === STORE_AWAY;
  const { objection, isOpen = false } = unheard ? {} : standing;
  // Of a question that is closed the run says what became of this decision, if it had it before.
  if (isOpen && objection?.reason === 'key_revoked') throw keyRefused(objection, { ask, runId });
  const { kind, policyVersion } = ask;
  const signed = signer.signDecision({ tenant, runId, kind, policyVersion }, parsed.value);
  const sending = { decision: signed, ...named, unheard };
  const delivery = await deliverUnder(link, runId, sending);
  if (unheard && delivery.delivered === 'signal') return { ...delivery, storeAway: true };
  if (!needsNewerKeys(delivery)) return delivery;
  // A run that requires no proof takes what such a key has signed.
  if (objection !== undefined) throw keyRefused(objection, { ask, runId });
  return deliverToNextSegment(link, runId, sending);
}

interface Standing {
  readonly objection?: KeyObjection;
  readonly isOpen?: boolean;
}

async function standingOf(
  { store, tenant }: Link,
  askId: string,
  key: DeskKey,
): Promise<Standing | typeof STORE_AWAY> {
  if (store === undefined) return {};
  const objection = await unlessStoreAway(store, (calls) => objectionToKey(calls, tenant, key));
  if (objection === STORE_AWAY || objection === undefined) return objection ?? {};
  const row = await unlessStoreAway(store, (calls) => calls.getAsk(tenant, askId));
  return row === STORE_AWAY ? row : { objection, isOpen: row?.outcome === 'pending' };
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
  { decision, updateId: first = updateNameOf(decision) }: Sending,
): Promise<Delivery> {
  const handle = link.temporal.workflow.getHandle(runId);
  await bounded(link, { runId }, () => handle.signal(messages.nextSegment));
  const deadline = performance.now() + KEY_LIMIT_MS;
  for (let attempt = 2; ; attempt += 1) {
    await sleep(KEY_POLL_MS);
    // Another name each time: a segment that has just begun may not have been told yet.
    const updateId = `${first}:${attempt}`;
    const delivery = await deliverUnder(link, runId, { decision, updateId });
    if (!needsNewerKeys(delivery) || performance.now() > deadline) return delivery;
  }
}
