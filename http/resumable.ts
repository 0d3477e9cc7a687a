/** What a client that comes back goes on reading. */
import type { Chat } from './chat.js';
import type { Speaking } from './deliveries.js';

/** Times up to which a run that has ended is told again to a client that comes back, in ms. */
const ENDED_AGO_MS = 300_000;

/** undefined: there is nothing. */
export async function resumable(
  { client, sessionId }: Chat,
  alsoEnded: boolean,
): Promise<Speaking | undefined> {
  const { stored, openRuns } = await client.session(sessionId);
  const [open] = openRuns;
  if (open !== undefined) return { runId: open, span: 'last' };
  if (!alsoEnded || stored === undefined) return undefined;
  const isLate = Date.now() - stored.updatedAt > ENDED_AGO_MS;
  return isLate ? undefined : { runId: stored.runId, span: 'last' };
}
