/**
 * What the user says, until the model hears it.
 * Invariant: a message with an id that the run has seen is the same message, and waits once.
 */
import { fitsBytes, sha256Hex } from '../json/json.js';
import type { OutsideInput } from '../state/input.js';
import type { QueuedMessage, Run } from '../state/run.js';
import { knows } from '../step/changes.js';
import { warn } from '../step/outbox.js';

export const QUEUE_MAX = 100;
/** Of all queued messages together: they are carried over continue-as-new. */
export const QUEUE_BYTES_MAX = 65_536;
/** Longer ids are remembered by their digests. */
const SEEN_ID_CHARS_MAX = 64;
const SEEN_IDS_MAX = 200;

export function queued(run: Run, input: Extract<OutsideInput, { type: 'user_message' }>): Run {
  const { id, text, attachments } = input;
  const message: QueuedMessage = {
    text,
    ...(attachments !== undefined && { attachments }),
    ...(id !== undefined && knows(run, 'clientMessageIds') && { clientMessageId: id }),
  };
  const seen = id === undefined ? undefined : seenForm(id);
  if (seen !== undefined && run.seenMessageIds.includes(seen)) return run;
  if (run.queue.length >= QUEUE_MAX || !fitsBytes([...run.queue, message], QUEUE_BYTES_MAX)) {
    return warn(run, 'message_dropped', `${run.queue.length} messages are waiting already`);
  }
  const seenMessageIds =
    seen === undefined ? run.seenMessageIds : [...run.seenMessageIds, seen].slice(-SEEN_IDS_MAX);
  return { ...run, seenMessageIds, queue: [...run.queue, message] };
}

function seenForm(id: string): string {
  return id.length <= SEEN_ID_CHARS_MAX ? id : `sha256:${sha256Hex(id)}`;
}
