/**
 * A chat as a session of runs, and from the first change of a message on as several: each begins with the conversation
 * before the message that was changed, and the newest one is the chat.
 * Invariants: a chat belongs to its tenant, person and agent, so an id that is guessed leads nowhere; ids are made of
 * what the client calls its chat and its message, so every process finds the same ones.
 */
import {
  STORE_AWAY,
  unlessStoreAway,
  whyAway,
  type HeardMessage,
  type HoldfastClient,
} from '../client/index.js';
import { Problem } from '../console/http/problem.js';
import { sha256Hex } from '../core/json/json.js';
import { HoldfastError } from '../core/state/errors.js';
import type { Deliveries } from './deliveries.js';
import type { Authorized, ChatActor, CheckedOptions } from './options.js';
import { storeSilent, timedClient } from './timed-client.js';

export interface Chat {
  readonly client: HoldfastClient;
  readonly actor: ChatActor;
  /** For whom its runs work. */
  readonly caller: string;
  /** Its first session. */
  readonly base: string;
  /** The session that is meant; until `newestOf` has looked, the first. */
  readonly sessionId: string;
  /** The last one that was begun, whatever became of it. */
  readonly lastSession: string;
  /** Names the person among all that the handler serves. */
  readonly person: string;
}

export function chatOf(
  { client, agent, ownDecisions = false }: CheckedOptions,
  { actor, tenant }: Authorized,
  chatId: string,
): Chat {
  const own = tenant === undefined ? client : client.forTenant(tenant);
  const name = sha256Hex(JSON.stringify([tenant ?? null, actor.id, agent, chatId]));
  const base = `chat_${name.slice(0, 40)}`;
  return {
    client: timedClient(own),
    actor,
    // Nobody decides on their own request: here the chat asks, and the person decides.
    caller: ownDecisions ? `chat of ${actor.id}` : actor.id,
    base,
    sessionId: base,
    lastSession: base,
    person: JSON.stringify([tenant ?? null, actor.id]),
  };
}

/** Sessions of a chat, the first among them. */
const SESSIONS_MAX = 9_999;

/** The chat at the session that follows by a change. Errors: a Problem if there are too many. */
export function nextOf(chat: Chat): Chat {
  const { base, lastSession } = chat;
  const number = numberOf(base, lastSession);
  if (number >= SESSIONS_MAX) {
    const detail = 'The chat has been changed too often.';
    throw new Problem(409, { code: 'not_possible', detail, hint: 'Begin another chat.' });
  }
  const sessionId = sessionOf(base, number + 1);
  return { ...chat, sessionId, lastSession: sessionId };
}

function numberOf(base: string, sessionId: string): number {
  return sessionId === base ? 1 : Number(sessionId.slice(-4));
}

function sessionOf(base: string, number: number): string {
  return number === 1 ? base : `${base}.b${String(number).padStart(4, '0')}`;
}

/** Branches that came to nothing, one after the other, that are passed over. */
const UNUSED_MAX = 50;

/**
 * The chat at its newest session. One whose first run could not begin, or broke off, is none: the conversation before it goes
 * on. Errors: StoreUnavailable, ServerUnavailable.
 */
export async function newestOf(
  deliveries: Pick<Deliveries, 'branches' | 'unopened'>,
  chat: Chat,
): Promise<Chat> {
  const { client, base } = chat;
  // A run that no worker has opened yet is in no store.
  const known = deliveries.branches.get(base) ?? base;
  const stored = (await client.conversations.lastSession(`${base}.b`)) ?? base;
  const lastSession = stored > known ? stored : known;
  const last = numberOf(base, lastSession);
  for (let number = last; number > Math.max(1, last - UNUSED_MAX); number -= 1) {
    const one = { ...chat, sessionId: sessionOf(base, number), lastSession };
    if (await isUsed(deliveries, one)) return one;
  }
  const number = Math.max(1, last - UNUSED_MAX);
  return { ...chat, sessionId: sessionOf(base, number), lastSession };
}

/** The same in time: a store that does not answer is away. */
export async function newestInTime(deliveries: Deliveries, chat: Chat): Promise<Chat> {
  const newest = await unlessStoreAway(chat, () => newestOf(deliveries, chat));
  if (newest === STORE_AWAY) throw awayOf(chat);
  return newest;
}

/** Of a chat whose store was away just now. */
export function awayOf(chat: Chat): HoldfastError {
  return whyAway(chat) ?? storeSilent();
}

async function isUsed(deliveries: Pick<Deliveries, 'unopened'>, chat: Chat): Promise<boolean> {
  const { stored, openRuns } = await chat.client.session(chat.sessionId);
  if (stored !== undefined || openRuns.length > 0) return true;
  return (await unopenedRun(deliveries, chat)) !== undefined;
}

/** Of the run that a message starts. */
export function runIdOf({ sessionId }: Pick<Chat, 'sessionId'>, messageId: string): string {
  return `${sessionId}.${startedBy(messageId)}`;
}

/** The session that a run of a chat was begun in. */
export function sessionIn(runId: string): string {
  return runId.slice(0, runId.lastIndexOf('.'));
}

/** The last piece of the ids of runs that the message starts. */
export function startedBy(messageId: string): string {
  return sha256Hex(messageId).slice(0, 24);
}

/** What runs are told that the message is called. Releases before told open runs the same. */
export function nameOf(messageId: string): string {
  return `chat_${sha256Hex(messageId).slice(0, 40)}`;
}

/** Where runs of the chat have heard a message, by run. */
export async function heardAs(
  { client, base }: Pick<Chat, 'client' | 'base'>,
  messageId: string,
): Promise<readonly HeardMessage[]> {
  return client.conversations.named(nameOf(messageId), `${base}.`);
}

export function isRunOf({ base }: Pick<Chat, 'base'>, runId: string): boolean {
  return runId.startsWith(`${base}.`);
}

export async function isThere({ client }: Pick<Chat, 'client'>, runId: string): Promise<boolean> {
  return (await client.handle(runId).execution('brief').catch(onlyWhenGone)) !== undefined;
}

export function onlyWhenGone(error: unknown): undefined {
  if (error instanceof HoldfastError && error.code === 'RunNotFound') return undefined;
  throw error;
}

export function isStoreAway(error: unknown): boolean {
  return error instanceof HoldfastError && error.code === 'StoreUnavailable';
}

/** The run that was started for the message before, and that the store does not know yet. */
export async function unopenedRun(
  { unopened }: Pick<Deliveries, 'unopened'>,
  { client, sessionId }: Chat,
): Promise<string | undefined> {
  const runId = unopened.get(sessionId)?.runId;
  if (runId === undefined) return undefined;
  const execution = await client.handle(runId).execution('brief').catch(onlyWhenGone);
  // One that is not there yet stays known: its start may be on its way, and the next start takes its place.
  return execution?.closed === false ? runId : undefined;
}

/** Runs of a chat that can be stopped, also one that no worker has opened yet. */
export async function stoppable(deliveries: Deliveries, chat: Chat): Promise<readonly string[]> {
  const { openRuns } = await chat.client.session(chat.sessionId);
  const unopened = await unopenedRun(deliveries, chat);
  return unopened === undefined || openRuns.includes(unopened) ? openRuns : [...openRuns, unopened];
}
