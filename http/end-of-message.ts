/** What a reader hears with the end of a run: what the run left unread, and whether a change took its message out of the chat. */
import { setTimeout as sleep } from 'node:timers/promises';
import { unlessStoreAway } from '../client/index.js';
import { sessionIn, type Chat } from './chat.js';
import type { UiChunk } from './projection/index.js';
import { withUnread } from './unread.js';

/** How long the session of a change that has stopped the run may take to begin, ms. */
const BEGIN_MS = 3_000;
const LOOK_MS = 150;

/** `chunks`: the end as the run tells it. */
export async function endOf(
  chat: Chat,
  runId: string,
  chunks: readonly UiChunk[],
): Promise<readonly UiChunk[]> {
  const told = await withReplaced(chat, runId, chunks);
  // What waited behind a message that was changed is in the chat no more, and goes with no other.
  return told === chunks ? withUnread(chat, runId, chunks) : told;
}

async function withReplaced(
  chat: Chat,
  runId: string,
  chunks: readonly UiChunk[],
): Promise<readonly UiChunk[]> {
  if (!chunks.some((one) => one.type === 'data-holdfast-run' && isStopped(one.data))) return chunks;
  const answer = await unlessStoreAway(chat, () => isReplaced(chat, sessionIn(runId)));
  if (answer !== true) return chunks;
  return chunks.map((one) =>
    one.type === 'data-holdfast-run' ? { ...one, data: { ...one.data, replaced: true } } : one,
  );
}

function isStopped({ stopReason }: { readonly stopReason?: string }): boolean {
  return stopReason === 'interrupted' || stopReason === 'aborted';
}

async function isReplaced({ client }: Chat, sessionId: string): Promise<boolean> {
  const begun = await client.conversations.noted(`${sessionId}#`, 'all');
  const sessions = begun.map(({ digest }) => sessionIn(digest.split('#')[0] ?? ''));
  const next = sessions.findLast((one) => one !== sessionId);
  if (next === undefined) return false;
  for (const until = performance.now() + BEGIN_MS; performance.now() < until;) {
    const { stored, openRuns } = await client.session(next);
    if (stored !== undefined || openRuns.length > 0) return true;
    await sleep(LOOK_MS);
  }
  return false;
}
