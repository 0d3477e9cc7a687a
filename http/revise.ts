/**
 * A message that its user changes, or whose answer is to be made anew: the conversation before it goes on in a session of
 * its own, which is the chat from then on.
 * Invariants: nothing is taken back that was done; the run of the words that are replaced is stopped before others begin; a
 * change that is sent again makes no second session while its message is the last one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { HeardMessage, SessionOptions, TranscriptMessage } from '../client/index.js';
import { Problem } from '../console/http/problem.js';
import type { StoredText } from '../core/json/json.js';
import { HoldfastError } from '../core/state/errors.js';
import {
  isRunOf,
  isThere,
  nameOf,
  nextSession,
  onlyWhenGone,
  runIdOf,
  startedBy,
  stoppable,
  type Chat,
} from './chat.js';
import type { Deliveries, Speaking } from './deliveries.js';
import type { SaidMessage } from './said.js';
import { spokenIn } from './stored.js';

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

/** undefined: no run has heard the message, so nothing of it is to be changed. Errors: a Problem. */
export async function revise(
  { deliveries, begin }: Revising,
  chat: Chat,
  message: SaidMessage,
): Promise<Speaking | undefined> {
  const names = await chat.client.conversations.named(nameOf(chat, message.id));
  const own = names.filter(({ runId }) => isRunOf(chat, runId));
  const open = await stoppable(deliveries, chat);
  for (const runId of open) {
    const at = await lastIn(chat, runId, { message, own });
    if (at !== undefined && (await isSame(chat, message, { at, isOpen: true }))) return at;
  }
  await stopAll(chat, open);
  deliveries.forget(runIdOf(chat, message.id));
  const spoken = await spokenIn(chat, chat.sessionId);
  const index = spoken.findLastIndex(isMessage(message.id, own, spoken));
  const found = spoken[index];
  if (found === undefined) {
    if (own.length === 0 && !(await wasStarted(chat, message))) return undefined;
    if (spoken.length > 0) refuse();
    // Its run ended before anything was stored.
    return begunAnew({ deliveries, begin }, chat, { message, before: undefined });
  }
  if (!spoken.slice(index + 1).some(isOfUser)) {
    const at = placeOf(found, own);
    if (await isSame(chat, message, { at, isOpen: false })) return at;
  }
  return begunAnew({ deliveries, begin }, chat, { message, before: spoken[index - 1] });
}

function refuse(): never {
  const detail = 'The message is no longer in the part of the conversation that can be changed.';
  const hint = 'Load the conversation again, or send another message.';
  throw new Problem(409, { code: 'not_possible', detail, hint });
}

interface Sought {
  readonly message: SaidMessage;
  readonly own: readonly HeardMessage[];
}

/** The message, if it is the newest one that the run has heard. */
async function lastIn(
  chat: Chat,
  runId: string,
  { message, own }: Sought,
): Promise<Speaking | undefined> {
  const last = await chat.client.conversations.last(runId);
  if (last === undefined) {
    return isStartedBy(message.id, runId) ? { runId, span: 'first' } : undefined;
  }
  const isOwn = last.messageId === message.id || own.some((one) => isAt(one, last));
  return isOwn ? { runId, span: { seq: last.seq } } : undefined;
}

function isAt(one: HeardMessage, other: HeardMessage): boolean {
  return one.runId === other.runId && one.seq === other.seq;
}

function isStartedBy(messageId: string, runId: string): boolean {
  // After a page was loaded the client calls the message as its conversation does.
  return runId.endsWith(`.${startedBy(messageId)}`) || messageId.startsWith(`${runId}:m`);
}

/** Whether what stands there is what is wanted: the same words, or an answer that is not the one to be replaced. */
async function isSame(
  chat: Chat,
  { change, text }: SaidMessage,
  { at, isOpen }: { readonly at: Speaking; readonly isOpen: boolean },
): Promise<boolean> {
  const { runId, span } = at;
  if (change?.kind === 'answer') {
    const { of } = change;
    if (of !== undefined) return isRunOf(chat, of) && of !== runId && !of.startsWith(`${runId}:`);
    // Without a name it is the answer that is there, unless that one is still under way.
    return isOpen;
  }
  const since = typeof span === 'object' && 'seq' in span ? span.seq : 0;
  for await (const event of chat.client.handle(runId).events({ since, untilNow: true })) {
    if (event.type === 'session_init') return hasText(event.goal, text);
    if (event.type === 'user_message') return hasText(event.text, text);
  }
  return false;
}

function hasText(stored: StoredText, text: string): boolean {
  if ('text' in stored) return stored.text === text;
  return stored.bytes === Buffer.byteLength(text) && text.startsWith(stored.preview);
}

/** How long runs that are stopped may take to end, and how often they are looked at, in ms. */
const STOP_MS = 30_000;
const LOOK_MS = 150;

/** Errors: a Problem for a run that does not end. */
async function stopAll({ client, sessionId }: Chat, runs: readonly string[]): Promise<void> {
  if (runs.length === 0) return;
  for (const runId of runs) {
    const run = client.handle(runId);
    await run.interrupt().catch(onlyWhenGone);
    // A conversation that an interrupt pauses would wait for its user.
    await run.close().catch(onlyWhenGone);
  }
  const until = performance.now() + STOP_MS;
  while (performance.now() < until) {
    const ends = runs.map((runId) => client.handle(runId).execution().catch(onlyWhenGone));
    const isOpen = (await Promise.all(ends)).some((execution) => execution?.closed === false);
    if (!isOpen && (await client.session(sessionId)).openRuns.length === 0) return;
    await sleep(LOOK_MS);
  }
  const detail = 'The answer before is still being stopped.';
  throw new Problem(409, { code: 'busy', detail, hint: 'Send the message again in a moment.' });
}

function isOfUser({ role, text, flags = [] }: TranscriptMessage): boolean {
  const isOfRuntime = flags.includes('synthetic') || flags.includes('compactSummary');
  return role === 'user' && text !== undefined && !isOfRuntime;
}

function isMessage(
  id: string,
  own: readonly HeardMessage[],
  spoken: readonly TranscriptMessage[],
): (message: TranscriptMessage) => boolean {
  const hash = startedBy(id);
  return (message) => {
    if (!isOfUser(message)) return false;
    const { messageId } = message;
    if (messageId === id || own.some((one) => one.messageId === messageId)) return true;
    const run = runOf(messageId);
    if (!run.endsWith(`.${hash}`)) return false;
    return spoken.find((one) => isOfUser(one) && runOf(one.messageId) === run) === message;
  };
}

/** Ids of messages begin with that of their run. */
function runOf(messageId: string): string {
  return messageId.replace(/:m\d+$/, '');
}

function placeOf({ messageId }: TranscriptMessage, own: readonly HeardMessage[]): Speaking {
  const heard = own.find((one) => one.messageId === messageId);
  return heard === undefined
    ? { runId: runOf(messageId), span: 'first' }
    : { runId: heard.runId, span: { seq: heard.seq } };
}

async function wasStarted(chat: Chat, { id }: SaidMessage): Promise<boolean> {
  return isRunOf(chat, id) || (await isThere(chat, runIdOf(chat, id)));
}

async function begunAnew(
  { deliveries, begin }: Revising,
  chat: Chat,
  {
    message,
    before,
  }: { readonly message: SaidMessage; readonly before: TranscriptMessage | undefined },
): Promise<Speaking> {
  const sessionId = nextSession(chat);
  if (sessionId === undefined) {
    const detail = 'The chat has been changed too often.';
    throw new Problem(409, { code: 'not_possible', detail, hint: 'Begin another chat.' });
  }
  const next = { ...chat, sessionId, lastSession: sessionId };
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
