/**
 * The stored conversation of a chat, for a page that is loaded.
 * Invariant: an answer that is under way is in the stream, from its first part, and not here; the words that it answers are here,
 * whatever of its run is stored, also before a worker has opened the run that this process has started; words that no run has
 * read stand at the end and say so.
 */
import type { TranscriptMessage } from '../client/index.js';
import { HoldfastError } from '../core/state/errors.js';
import { unopenedRun, type Chat } from './chat.js';
import type { Deliveries } from './deliveries.js';
import { messagesOf, type UiMessage } from './projection/index.js';
import { runOf } from './projection/messages.js';
import { wholeText } from './projection/text.js';
import { unreadIn, unreadPart, type Unread } from './unread.js';

/** Errors: StoreUnavailable, ServerUnavailable. */
export async function storedMessages(
  deliveries: Pick<Deliveries, 'unopened'>,
  chat: Chat,
): Promise<readonly UiMessage[]> {
  const { client, sessionId } = chat;
  const { stored, openRuns } = await client.session(sessionId);
  const before = stored === undefined ? [] : await spokenIn(chat, sessionId);
  const [open] = openRuns;
  if (open === undefined) {
    const told = await withUnopened(deliveries, chat, await named(chat, before));
    const { left } = await unreadIn(chat);
    return [...told, ...left.map(unreadMessage)];
  }
  // So far as a worker can be asked.
  const own = await spokenIn(chat, open);
  const last = await client.conversations.last(open);
  const told = await named(chat, own.length === 0 || last === undefined ? before : own);
  const first = own.find(({ messageId, role }) => role === 'user' && isOf(open, messageId));
  const id = last?.messageId ?? first?.messageId ?? `${open}:m0`;
  const index = told.findLastIndex((message) => message.id === id);
  if (index !== -1) return told.slice(0, index + 1);
  const text = await wordsAt(chat, open, last?.seq ?? 0);
  return text === undefined ? told : [...told, saidBy(id, text)];
}

async function withUnopened(
  deliveries: Pick<Deliveries, 'unopened'>,
  chat: Chat,
  told: readonly UiMessage[],
): Promise<readonly UiMessage[]> {
  const runId = await unopenedRun(deliveries, chat);
  const known = deliveries.unopened.get(chat.sessionId);
  if (runId === undefined || known?.runId !== runId) return told;
  return [...told, saidBy(`${runId}:m0`, known.text)];
}

function saidBy(id: string, text: string): UiMessage {
  return { id, role: 'user', parts: [{ type: 'text', text, state: 'done' }] };
}

function unreadMessage(one: Unread): UiMessage {
  const { id, role, parts } = saidBy(one.id, one.text);
  return { id, role, parts: [...parts, unreadPart([one])!] };
}

/** Answers have the names that their streams gave them. */
async function named(
  { client }: Chat,
  spoken: readonly TranscriptMessage[],
): Promise<readonly UiMessage[]> {
  // The first message of a run is its task; only a later one was heard with an event of its own.
  const later = spoken.filter(
    ({ role, messageId }) => role === 'user' && !messageId.endsWith(':m0'),
  );
  const runs = new Set(later.map(({ messageId }) => runOf(messageId)));
  const heardAt = new Map<string, number>();
  for (const runId of runs) {
    const heard = await client.conversations.heardBy(runId);
    for (const { messageId, seq } of heard) heardAt.set(messageId, seq);
  }
  return messagesOf(spoken, heardAt);
}

/** Ids of messages begin with that of their run. */
function isOf(runId: string, messageId: string): boolean {
  return messageId.startsWith(`${runId}:m`);
}

/** Of a session or a run; none is an empty one. */
export async function spokenIn(
  { client }: Chat,
  id: string,
): Promise<readonly TranscriptMessage[]> {
  try {
    return (await client.transcript(id)).messages;
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'SessionNotFound') return [];
    throw error;
  }
}

/** What the user says with this event. */
async function wordsAt(
  { client }: Chat,
  runId: string,
  since: number,
): Promise<string | undefined> {
  for await (const event of client.handle(runId).events({ since, untilNow: true })) {
    if (event.type === 'session_init') return wholeText(event.goal);
    if (event.type === 'user_message') return wholeText(event.text);
  }
  return undefined;
}
