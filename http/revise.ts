/**
 * A message that its user changes, or whose answer is to be made anew: the conversation before it goes on in a session of
 * its own, which is the chat from then on.
 * Invariants: nothing is taken back that was done; the run of the words that are replaced is stopped before others begin, and
 * only for a change that is possible; a change that is sent again makes no second session while its message is the last one.
 */
import type { SessionOptions, TranscriptMessage } from '../client/index.js';
import { Problem } from '../console/http/problem.js';
import { sha256Hex, type StoredText } from '../core/json/json.js';
import { HoldfastError } from '../core/state/errors.js';
import { begunBefore, keptBefore } from './begins.js';
import { isRunOf, nextOf, onlyWhenGone, runIdOf, stoppable, type Chat } from './chat.js';
import type { Deliveries, Speaking } from './deliveries.js';
import { checkAsked, checkDoubt } from './doubt.js';
import type { SaidMessage } from './said.js';
import {
  isOfUser,
  isStartedBy,
  isWithin,
  lastIn,
  placeOf,
  soughtIn,
  storedWith,
  type Sought,
  type Standing,
  type Stored,
} from './standing.js';
import { stopAll } from './stopping.js';
import { wholeOf } from './unread.js';

export interface Beginning {
  readonly chat: Chat;
  readonly message: SaidMessage;
  /** Absent: the session of the chat goes on. */
  readonly session?: Pick<SessionOptions, 'sessionId' | 'resume' | 'fork'>;
}

interface Revising {
  readonly deliveries: Deliveries;
  readonly begin: (at: Beginning) => Promise<Speaking>;
}

/** undefined: no run was given the message, so nothing of it is to be changed. Errors: a Problem. */
export async function revise(
  revising: Revising,
  chat: Chat,
  message: SaidMessage,
): Promise<Speaking | undefined> {
  const { deliveries } = revising;
  const sought = await soughtIn(chat, message);
  const open = await openFor(deliveries, chat, message);
  const same = await sameInOpen(deliveries, chat, { sought, open });
  if (same !== undefined) return same;
  const isOpen =
    queuedIn(deliveries, chat, { sought, open }) !== undefined ||
    open.some((runId) => isWithin(runId, sought));
  const { spoken, standing } = await storedWith(chat, sought);
  if (!isOpen && standing.kind === 'unknown') return undefined;
  if (!isOpen && standing.kind === 'summarized') refuse();
  const at =
    standing.kind === 'found' ? await lastOf(chat, sought, { spoken, standing }) : undefined;
  if (at !== undefined && open.length === 0) return at;
  if (message.acceptUnknown !== true) await checkAsked(chat, open);
  await keep(chat, message, open);
  await stopAll(chat, open);
  deliveries.forget(runIdOf(chat, message.id));
  const stopped = open.find((runId) => isStartedBy(message.id, runId));
  return replaced(revising, chat, { message, end: spoken.at(-1), stopped });
}

/** From then on no message begins a run that the change would take out of the chat. Errors: a Problem if one was faster. */
async function keep(chat: Chat, { id }: SaidMessage, stopped: readonly string[]): Promise<void> {
  const run = runIdOf(nextOf(chat), id);
  const before = await keptBefore(chat, { run, stopped });
  if (before !== undefined) refuseBusy('The conversation has gone on elsewhere.');
}

function refuseBusy(detail: string): never {
  throw new Problem(409, { code: 'busy', detail, hint: 'Load it again.' });
}

/** Also a run of the message that no worker has opened yet, whichever process started it. */
async function openFor(
  deliveries: Deliveries,
  chat: Chat,
  { id }: SaidMessage,
): Promise<readonly string[]> {
  const open = await stoppable(deliveries, chat);
  const own = runIdOf(chat, id);
  if (open.includes(own)) return open;
  const execution = await chat.client.handle(own).execution('brief').catch(onlyWhenGone);
  return execution?.closed === false ? [...open, own] : open;
}

/** Where the message stands, if it is the last one stored and nothing of it is changed. Errors: a Problem. */
async function lastOf(
  chat: Chat,
  sought: Sought,
  { spoken, standing: { index } }: FoundIn,
): Promise<Speaking | undefined> {
  const found = spoken[index];
  if (found === undefined) return undefined;
  const at = placeOf(found, sought);
  const behind = spoken.slice(index + 1);
  const { message } = sought;
  if (!behind.some(isOfUser) && (await isSame(chat, message, { at, isOpen: false }))) return at;
  if (message.acceptUnknown !== true) await checkDoubt(chat, at, behind);
  return undefined;
}

interface FoundIn extends Pick<Stored, 'spoken'> {
  readonly standing: Extract<Standing, { kind: 'found' }>;
}

interface Replaced {
  readonly message: SaidMessage;
  /** Of the conversation that was stored before. */
  readonly end: TranscriptMessage | undefined;
  /** The run that began with the message. */
  readonly stopped: string | undefined;
}

/** After everything that was under way has ended. */
async function replaced(
  revising: Revising,
  chat: Chat,
  { message, end, stopped }: Replaced,
): Promise<Speaking | undefined> {
  const sought = await soughtIn(chat, message);
  const { spoken, standing } = await storedWith(chat, sought);
  if (standing.kind === 'unknown') return undefined;
  if (standing.kind !== 'found') {
    // What a run that was stopped began with came after all that was stored.
    if (standing.kind === 'summarized' && stopped === undefined) refuse();
    if (message.acceptUnknown !== true) {
      await checkDoubt(chat, { runId: stopped ?? standing.run, span: 'first' }, []);
    }
    return begunAnew(revising, chat, { message, before: end });
  }
  const at = await lastOf(chat, sought, { spoken, standing });
  if (at !== undefined) return at;
  return begunAnew(revising, chat, { message, before: spoken[standing.index - 1] });
}

function refuse(): never {
  const detail = 'The message is no longer in the part of the conversation that can be changed.';
  const hint = 'Load the conversation again, or send another message.';
  throw new Problem(409, { code: 'not_possible', detail, hint });
}

interface Open {
  readonly sought: Sought;
  readonly open: readonly string[];
}

/** What answers the message already, or is going to. */
async function sameInOpen(
  deliveries: Deliveries,
  chat: Chat,
  { sought, open }: Open,
): Promise<Speaking | undefined> {
  for (const runId of open) {
    const at = await lastIn(chat, runId, sought);
    if (at === undefined) continue;
    const unopened = deliveries.unopened.get(chat.sessionId);
    const words = unopened?.runId === runId ? unopened.words : undefined;
    if (await isSame(chat, sought.message, { at, isOpen: true, words })) return at;
  }
  const queued = queuedIn(deliveries, chat, { sought, open });
  const { change, text } = sought.message;
  if (queued === undefined) return undefined;
  return change?.kind === 'answer' || queued.text === text ? queued.at : undefined;
}

/** The message, if an open run was given it and has not heard it. */
function queuedIn(
  deliveries: Deliveries,
  chat: Chat,
  { sought: { message, own }, open }: Open,
): { readonly at: Speaking; readonly text: string } | undefined {
  const at = deliveries.of(runIdOf(chat, message.id));
  if (at === undefined || own.length > 0 || !open.includes(at.runId)) return undefined;
  const { span } = at;
  return typeof span === 'object' && 'named' in span ? { at, text: span.text } : undefined;
}

interface Compared {
  readonly at: Speaking;
  readonly isOpen: boolean;
  /** Digest of the words that the run was started with, if this process has done it. */
  readonly words?: string | undefined;
}

/** Whether what stands there is what is wanted: the same words, or an answer that is not the one to be replaced. */
async function isSame(
  chat: Chat,
  message: SaidMessage,
  { at, isOpen, words }: Compared,
): Promise<boolean> {
  const { runId, span } = at;
  const { change, text } = message;
  if (change?.kind === 'answer') {
    const { of } = change;
    if (of !== undefined) return isRunOf(chat, of) && of !== runId && !of.startsWith(`${runId}:`);
    // Without a name it is the answer that is there, unless that one is still under way.
    return isOpen && !(await chat.client.conversations.awaitsUser(runId));
  }
  const since = typeof span === 'object' && 'seq' in span ? span.seq : 0;
  for await (const event of chat.client.handle(runId).events({ since, untilNow: true })) {
    if (event.type === 'session_init') return hasText(event.goal, wholeOf(message));
    if (event.type === 'user_message') return hasText(event.text, text);
  }
  // A run that says nothing yet is stopped only if other words are known to be its task.
  return isOpen && (words === undefined || words === sha256Hex(text));
}

function hasText(stored: StoredText, text: string): boolean {
  if ('text' in stored) return stored.text === text;
  return stored.$blob === sha256Hex(text);
}

async function begunAnew(
  { deliveries, begin }: Revising,
  chat: Chat,
  {
    message,
    before,
  }: { readonly message: SaidMessage; readonly before: TranscriptMessage | undefined },
): Promise<Speaking> {
  const next = nextOf(chat);
  const { sessionId } = next;
  if ((await begunBefore(next, message, 'new')) !== undefined) {
    refuseBusy('The conversation is being changed elsewhere.');
  }
  const session =
    before === undefined
      ? { sessionId }
      : { sessionId, resume: chat.sessionId, fork: { at: before.messageId } };
  try {
    const at = await begin({ chat: next, message, session });
    deliveries.branches.set(chat.base, sessionId);
    deliveries.remember(runIdOf(next, message.id), at);
    return at;
  } catch (error) {
    // Its start may have arrived all the same.
    const isUnsure = error instanceof HoldfastError && error.code === 'ServerUnavailable';
    if (isUnsure) deliveries.branches.set(chat.base, sessionId);
    throw error;
  }
}
