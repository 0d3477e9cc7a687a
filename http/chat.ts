/**
 * A chat as a session of runs: each message of its user is a run, unless one is open that takes it.
 * Invariants: a chat belongs to its tenant, person and agent, so an id that is guessed leads nowhere; ids are made of
 * what the client calls its chat and its message, so a request that is sent again starts nothing new.
 */
import type { HoldfastClient } from '../client/index.js';
import { sha256Hex } from '../core/json/json.js';
import { HoldfastError } from '../core/state/errors.js';
import type { Authorized, ChatActor, CheckedOptions } from './options.js';
import type { SaidMessage } from './said.js';

export interface Chat {
  readonly client: HoldfastClient;
  readonly actor: ChatActor;
  /** For whom its runs work. */
  readonly caller: string;
  readonly sessionId: string;
  /** Names the person among all that the handler serves. */
  readonly person: string;
}

/** Which part of a run is one message: all up to its first follow-up, or what follows one. */
export type Span = 'first' | 'last' | { readonly messageId: string };

export interface Speaking {
  readonly runId: string;
  readonly span: Span;
}

export function chatOf(
  { client, agent, ownDecisions = false }: CheckedOptions,
  { actor, tenant }: Authorized,
  chatId: string,
): Chat {
  const own = tenant === undefined ? client : client.forTenant(tenant);
  const name = sha256Hex(JSON.stringify([tenant ?? null, actor.id, agent, chatId]));
  return {
    client: own,
    actor,
    // Nobody decides on their own request: here the chat asks, and the person decides.
    caller: ownDecisions ? `chat of ${actor.id}` : actor.id,
    sessionId: `chat_${name.slice(0, 40)}`,
    person: JSON.stringify([tenant ?? null, actor.id]),
  };
}

/** Of the run that answers a message. */
export function runIdOf({ sessionId }: Pick<Chat, 'sessionId'>, messageId: string): string {
  return `${sessionId}.${sha256Hex(messageId).slice(0, 24)}`;
}

export function isRunOf({ sessionId }: Chat, runId: string): boolean {
  return runId.startsWith(`${sessionId}.`);
}

/** Hands a message to the run that is open, or starts one. Errors: as `HoldfastClient.start` and `message`. */
export async function submit(
  { agent, start = {} }: CheckedOptions,
  chat: Chat,
  { id, text }: SaidMessage,
): Promise<Speaking> {
  const { client, caller, sessionId } = chat;
  const runId = runIdOf(chat, id);
  const { stored, openRuns } = await client.session(sessionId);
  if (openRuns.includes(runId)) return { runId, span: 'first' };
  const [open] = openRuns;
  if (open !== undefined) {
    const messageId = `chat_${sha256Hex(id).slice(0, 40)}`;
    await client.message(open, text, messageId);
    return { runId: open, span: { messageId } };
  }
  try {
    await client.start({
      ...start,
      agent,
      runId,
      task: { goal: text, caller },
      cwd: 'chat',
      ...(stored === undefined ? { sessionId } : { resume: sessionId }),
      settings: { includePartialMessages: true, ...start.settings, persistSession: true },
    });
  } catch (error) {
    // The message was sent before, and its run has ended: what it said is told again.
    if (!(error instanceof HoldfastError) || error.code !== 'RunExists') throw error;
  }
  return { runId, span: 'first' };
}

/** Times up to which a run that has ended is told again to a client that comes back, in ms. */
const ENDED_AGO_MS = 300_000;

/** What a client that comes back goes on reading; undefined: there is nothing. */
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
