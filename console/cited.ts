/**
 * Replies with what they cite: an event names the message that has it.
 * Invariant: one message is read for a reply, however long its conversation is; one that the store no longer keeps is no fault.
 */
import type { RunEvent } from '../core/state/event.js';
import { HoldfastError } from '../core/state/errors.js';
import type { TranscriptNode } from '../core/state/transcript.js';
import type { WholeEvent } from '../pure/sdk/projection.js';
import { sourcesOf } from '../pure/sources.js';
import type { DeskStore } from './desk-store.js';

export async function withSources(
  store: Pick<DeskStore, 'readBack'>,
  tenant: string,
  event: RunEvent,
): Promise<WholeEvent> {
  if (event.type !== 'model_response' || event.head === undefined) return event;
  const [stored] = await store.readBack(tenant, event.head, 1).catch((error: unknown) => {
    if (error instanceof HoldfastError && error.code === 'TranscriptMissing') return [];
    throw error;
  });
  if (stored === undefined) return event;
  const node = JSON.parse(stored.body) as TranscriptNode;
  const sources = node.messageId === event.messageId ? sourcesOf(node.raw) : [];
  return sources.length === 0 ? event : { ...event, sources };
}
