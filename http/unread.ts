/**
 * Messages that were sent to a run which was under way, until a run has read them.
 * Invariants: a message is noted before it is sent; one that its run has left unread is taken once, by the message that begins
 * the next run or by its own next sending, whichever process is first, and is told as unread until then.
 */
import { STORE_AWAY, unlessStoreAway } from '../client/index.js';
import { sha256Hex } from '../core/json/json.js';
import { GOAL_CHARS_MAX } from '../pure/task-schema.js';
import {
  heardAs,
  isThere,
  nameOf,
  onlyWhenGone,
  runIdOf,
  sessionIn,
  startedBy,
  type Chat,
} from './chat.js';
import type { UiChunk, UiUnreadPart } from './projection/index.js';
import { untilClosed } from './run-end.js';
import type { SaidMessage } from './said.js';

export interface Unread {
  readonly id: string;
  readonly text: string;
  /** The run that it was sent to, and the number of its newest event then. */
  readonly runId: string;
  readonly after: number;
  readonly key: string;
  /** Names the message that begins a run with it. */
  readonly body: string | null;
}

type Words = Pick<Unread, 'id' | 'text'>;

/** Begins the mark of what needs no look any more. */
const SETTLED = '=';

function keyOf({ sessionId }: Chat, id: string, runId = ''): string {
  return `${sessionId}!${nameOf(id)}!${runId && sha256Hex(runId).slice(0, 24)}`;
}

/** Before it is sent to the run. */
export async function note(
  chat: Chat,
  { id, text }: Words,
  { runId, after }: Pick<Unread, 'runId' | 'after'>,
): Promise<void> {
  const { conversations } = chat.client;
  const words = JSON.stringify({ id, text, runId, after });
  const key = keyOf(chat, id, runId);
  await conversations.begins(key, words);
  // It may have been dropped, and is sent to this run after all.
  await conversations.mark({ key, body: SETTLED }, '');
}

export interface UnreadIn {
  /** Their runs have ended. */
  readonly left: readonly Unread[];
  /** Their runs go on. */
  readonly waiting: readonly Unread[];
}

/** Messages of the session that no run has read, the oldest first. */
export async function unreadIn(chat: Chat): Promise<UnreadIn> {
  const { conversations } = chat.client;
  const left: Unread[] = [];
  const waiting: Unread[] = [];
  for (const one of (await conversations.noted(`${chat.sessionId}!`, 'unsettled')).map(unread)) {
    // Looked at first: what a run has read when it closes is in the store by then.
    const isOpen = one.body === null && (await isRunning(chat, one.runId));
    if (await isRead(chat, one, isOpen)) await settle(chat, one);
    else (isOpen ? waiting : left).push(one);
  }
  return { left, waiting };
}

type Noted = Pick<Unread, 'key' | 'body'> & { readonly digest: string };

function unread({ key, digest, body }: Noted): Unread {
  // A mark that was taken back is none.
  return {
    ...(JSON.parse(digest) as Omit<Unread, 'key' | 'body'>),
    key,
    body: body === '' ? null : body,
  };
}

async function isRunning({ client }: Chat, runId: string): Promise<boolean> {
  return (await client.handle(runId).execution('brief').catch(onlyWhenGone))?.closed === false;
}

/** Temporal forgets runs, and the store has none that no worker has opened. */
async function hasBegun(chat: Chat, runId: string): Promise<boolean> {
  return (await isThere(chat, runId)) || (await chat.client.conversations.lastSeq(runId)) !== -1;
}

async function isRead(chat: Chat, { id, text, runId, after, body }: Unread, isOpen: boolean) {
  if (body !== null) return hasBegun(chat, `${chat.sessionId}.${body}`);
  if ((await heardAs(chat, id)).length > 0) return true;
  if (isOpen) return false;
  if (await hasBegun(chat, runIdOf(chat, id))) return true;
  return (await isToldIn(chat, { id, text, runId, after }).catch(onlyWhenGone)) ?? false;
}

/** Runs of older rules tell no names, and workers of older releases note none. Errors: RunNotFound of a run that nobody knows any more. */
async function isToldIn(
  chat: Chat,
  { id, text, runId, after }: Pick<Unread, 'id' | 'text' | 'runId' | 'after'>,
): Promise<boolean> {
  const since = after + 1;
  const named = nameOf(id);
  for await (const event of chat.client.handle(runId).events({ since, untilNow: true })) {
    if (event.type !== 'user_message' || event.from !== undefined) continue;
    const { clientMessageId, text: said } = event;
    if (clientMessageId === named) return true;
    if (clientMessageId === undefined && 'text' in said && said.text === text) return true;
  }
  return false;
}

/** False: somebody else has taken it. */
function settle({ client }: Chat, one: Pick<Unread, 'key' | 'body'>): Promise<boolean> {
  return client.conversations.mark(one, `${SETTLED}${one.body ?? ''}`);
}

/** Before it is sent to a further run: the message that has taken it along, and began no run, does so no more. As `settle`. */
export function sendOn({ client }: Chat, one: Pick<Unread, 'key' | 'body'>): Promise<boolean> {
  return client.conversations.mark(one, SETTLED);
}

/** Whether a process has sent it to a further run, so that no message has it in front of its own words. */
export async function isSentOn(chat: Chat, { id, key }: Unread): Promise<boolean> {
  const notes = await chat.client.conversations.noted(keyOf(chat, id), 'all');
  const isSettled = notes.some((one) => one.key === key && one.body?.startsWith(SETTLED) === true);
  return isSettled && (await takenBy(chat, id)) === undefined;
}

/** What is noted of the message for this run counts no more. */
export async function dropNote(chat: Chat, id: string, runId: string): Promise<void> {
  await settle(chat, { key: keyOf(chat, id, runId), body: null });
}

/** Takes what was left unread for the run that the message begins; false: somebody else has taken the message itself. */
export async function takeAlong(
  chat: Chat,
  { id, text }: SaidMessage,
  { older, own }: Omit<Before, 'taker'>,
): Promise<boolean> {
  const { conversations } = chat.client;
  const by = startedBy(id);
  if (own !== undefined && own.body !== by && !(await conversations.mark(own, by))) return false;
  let room = GOAL_CHARS_MAX - text.length;
  for (const one of older) {
    room -= one.text.length + BETWEEN.length;
    if (room < 0) break;
    if (one.body !== by) await conversations.mark(one, by);
  }
  return true;
}

export interface Before {
  /** Left unread before the message. */
  readonly older: readonly Unread[];
  /** The message itself, where a run has left it unread. */
  readonly own: Unread | undefined;
  /** The run that was begun with the message and another one behind it. */
  readonly taker: string | undefined;
}

export async function leftBefore(chat: Chat, id: string): Promise<Before> {
  const { left } = await unreadIn(chat);
  const at = left.findIndex((one) => one.id === id);
  const own = left[at];
  // Looked for behind what is left: whoever takes the message later is found when it is marked.
  const taker = own === undefined ? await takenBy(chat, id) : undefined;
  return { older: left.slice(0, at === -1 ? left.length : at), own, taker };
}

/** As `Before.taker`. */
export async function takenBy(chat: Chat, id: string): Promise<string | undefined> {
  for (const { body } of await chat.client.conversations.noted(keyOf(chat, id), 'all')) {
    const by = body?.replace(SETTLED, '') ?? '';
    const runId = `${chat.sessionId}.${by}`;
    if (by !== '' && by !== startedBy(id) && (await hasBegun(chat, runId))) return runId;
  }
  return undefined;
}

const BETWEEN = '\n\n';

/** What the message has in front of it when it begins a run. */
export async function withTaken(chat: Chat, message: SaidMessage): Promise<SaidMessage> {
  const by = { takenBy: startedBy(message.id) };
  const taken = (await chat.client.conversations.noted(chat.base, by)).map(unread);
  const before: string[] = [];
  let room = GOAL_CHARS_MAX - message.text.length;
  for (const one of taken) {
    if (one.id === message.id) continue;
    room -= one.text.length + BETWEEN.length;
    if (room >= 0) before.push(one.text);
    // Taken by this message when it was shorter, and began no run.
    else if (one.body === by.takenBy) await chat.client.conversations.mark(one, '');
  }
  return before.length === 0 ? message : { ...message, before: before.join(BETWEEN) };
}

export function wholeOf({ before, text }: SaidMessage): string {
  return before === undefined ? text : `${before}${BETWEEN}${text}`;
}

/** undefined: there are none. */
export function unreadPart(messages: readonly Words[]): UiUnreadPart | undefined {
  if (messages.length === 0) return undefined;
  const data = { messages: messages.map(({ id, text }) => ({ id, text })) };
  return { type: 'data-holdfast-unread', id: 'unread', data };
}

/** What ends the message of a run, with what the run has left unread. */
export async function withUnread(
  chat: Chat,
  runId: string,
  chunks: readonly UiChunk[],
): Promise<readonly UiChunk[]> {
  const at = { ...chat, sessionId: sessionIn(runId) };
  // Whoever loads the conversation is told as well.
  const found = await unlessStoreAway(chat, () => unreadIn(at)).catch(
    (): typeof STORE_AWAY => STORE_AWAY,
  );
  const part = found === STORE_AWAY ? undefined : unreadPart(found.left);
  if (part === undefined) return chunks;
  return chunks.flatMap((one): UiChunk[] => (one.type === 'finish' ? [part, one] : [one]));
}

/** Once the runs that are being stopped have closed, as far as they do in time: what one that goes on may still read is not unread. */
export async function unreadAtStop(chat: Chat): Promise<readonly Unread[]> {
  const { left, waiting } = await unreadIn(chat);
  if (waiting.length === 0) return left;
  const { signal } = new AbortController();
  const runs = new Set(waiting.map(({ runId }) => runId));
  await Promise.all([...runs].map((runId) => untilClosed({ chat, runId, left: signal })));
  return (await unreadIn(chat)).left;
}
