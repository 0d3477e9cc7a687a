/**
 * Which run a chat begins next, where several processes serve it.
 * Invariant: of messages that come at once one begins a run, and the others are told to it: two runs of one session would part
 * it, and the chat would lose what one of them heard.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256Hex } from '../core/json/json.js';
import { onlyWhenGone, runIdOf, type Chat } from './chat.js';
import type { SaidMessage } from './said.js';

/** Runs that came to nothing, one after the other, that are passed over. */
const PASSED_MAX = 50;
/** How long a run that is to begin may take to be there, in ms. */
const START_MS = 5_000;
const LOOK_MS = 100;
const OLD_MS = 600_000;

/**
 * The run that begins in place of the message's own; undefined: that one may. `new`: a session that nobody has begun, as far as
 * this process knows.
 */
export async function begunBefore(
  chat: Chat,
  { id, text }: Pick<SaidMessage, 'id' | 'text'>,
  session: 'going_on' | 'new' = 'going_on',
): Promise<string | undefined> {
  const { client, sessionId } = chat;
  // With its words: a message that is changed twice at once has one run, and one of the changes.
  const own = `${runIdOf(chat, id)}#${sha256Hex(text).slice(0, 16)}`;
  const isNew = session === 'new';
  const { stored } = isNew ? {} : await client.session(sessionId);
  // Each run that ends in order makes one revision, so that whoever begins at once asks for the same place.
  const first = stored?.revision ?? 0;
  for (let place = first; place < first + PASSED_MAX; place += 1) {
    const { name, at } = await client.conversations.begins(`${sessionId}#${place}`, own);
    if (name === own) return undefined;
    const runId = name.split('#')[0]!;
    if (await isComing(chat, { runId, at })) return runId;
    // Its run may have ended meanwhile: the session is that run's all the same.
    if (isNew && (await client.conversations.lastSeq(runId)) !== -1) return runId;
  }
  return undefined;
}

/** Whether it is open, or will be. */
async function isComing(
  { client }: Chat,
  { runId, at }: { readonly runId: string; readonly at: number },
): Promise<boolean> {
  // Two servers' clocks differ: only one that was begun long ago is not waited for.
  const isOld = Date.now() - at > OLD_MS;
  const until = performance.now() + (isOld ? 0 : START_MS);
  for (;;) {
    const execution = await client.handle(runId).execution().catch(onlyWhenGone);
    if (execution !== undefined) return !execution.closed;
    if (performance.now() >= until) return false;
    await sleep(LOOK_MS);
  }
}
