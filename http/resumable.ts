/** What a client that comes back goes on reading. */
import { unopenedRun, type Chat } from './chat.js';
import type { Deliveries, Speaking } from './deliveries.js';

/** Times up to which a run that has ended is told again to a client that comes back, in ms. */
const ENDED_AGO_MS = 300_000;

/** undefined: there is nothing. */
export async function resumable(
  deliveries: Pick<Deliveries, 'unopened'>,
  chat: Chat,
  alsoEnded: boolean,
): Promise<Speaking | undefined> {
  const { stored, openRuns } = await chat.client.session(chat.sessionId);
  const open = openRuns[0] ?? (await unopenedRun(deliveries, chat));
  if (open !== undefined) return { runId: open, span: 'last' };
  if (!alsoEnded || stored === undefined) return undefined;
  const isLate = Date.now() - stored.updatedAt > ENDED_AGO_MS;
  return isLate ? undefined : { runId: stored.runId, span: 'last' };
}
