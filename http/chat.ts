/**
 * A chat as a session of runs: each message of its user is a run, unless one is open that takes it.
 * Invariants: a chat belongs to its tenant, person and agent, so an id that is guessed leads nowhere; ids are made of
 * what the client calls its chat and its message, so a request that is sent again to this process starts nothing new.
 */
import type { HoldfastClient } from '../client/index.js';
import { sha256Hex } from '../core/json/json.js';
import { HoldfastError } from '../core/state/errors.js';
import type { Deliveries, Speaking } from './deliveries.js';
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

export interface Submitting {
  readonly options: CheckedOptions;
  readonly deliveries: Deliveries;
}

/**
 * Hands a message to the run that is open, or starts one. A message that this process has handed over is handed over no
 * more. Errors: as `HoldfastClient.start` and `message`.
 */
export async function submit(
  submitting: Submitting,
  chat: Chat,
  message: SaidMessage,
): Promise<Speaking> {
  const { deliveries } = submitting;
  return deliveries.inTurn(chat.sessionId, async () => {
    const runId = runIdOf(chat, message.id);
    const known = deliveries.of(runId);
    if (known !== undefined) return known;
    const at = await handedOver(submitting, chat, message);
    deliveries.remember(runId, at);
    return at;
  });
}

async function handedOver(
  submitting: Submitting,
  chat: Chat,
  message: SaidMessage,
): Promise<Speaking> {
  const runId = runIdOf(chat, message.id);
  // The message was sent before: its run answers it, or has answered it and is told again.
  if (await isThere(chat, runId)) return { runId, span: 'first' };
  const { openRuns } = await chat.client.session(chat.sessionId);
  const open = openRuns[0] ?? (await unopenedRun(submitting, chat));
  if (open !== undefined) {
    const at = await toldTo(open, chat, message);
    if (at !== undefined) return at;
  }
  return started(submitting, chat, message);
}

async function isThere({ client }: Chat, runId: string): Promise<boolean> {
  return (await client.handle(runId).execution().catch(onlyWhenGone)) !== undefined;
}

/** The run that was started for the message before, and that the store does not know yet. */
async function unopenedRun(
  { deliveries: { unopened } }: Pick<Submitting, 'deliveries'>,
  { client, sessionId }: Chat,
): Promise<string | undefined> {
  const runId = unopened.get(sessionId);
  if (runId === undefined) return undefined;
  const execution = await client.handle(runId).execution().catch(onlyWhenGone);
  // One that is not there yet stays known: its start may be on its way, and the next start takes its place.
  return execution?.closed === false ? runId : undefined;
}

/** undefined: the run has closed. */
async function toldTo(
  runId: string,
  { client }: Chat,
  { id, text }: SaidMessage,
): Promise<Speaking | undefined> {
  let after = -1;
  for await (const { stamp } of client.handle(runId).events({ untilNow: true })) after = stamp.seq;
  const messageId = `chat_${sha256Hex(id).slice(0, 40)}`;
  const sent = await client.message(runId, text, messageId).catch(onlyWhenGone);
  return sent === undefined ? undefined : { runId, span: { text, after } };
}

function onlyWhenGone(error: unknown): undefined {
  if (error instanceof HoldfastError && error.code === 'RunNotFound') return undefined;
  throw error;
}

async function started(
  { options: { agent, start = {} }, deliveries: { unopened } }: Submitting,
  chat: Chat,
  { id, text }: SaidMessage,
): Promise<Speaking> {
  const { client, caller, sessionId } = chat;
  const runId = runIdOf(chat, id);
  // A run that has just closed has stored the session.
  const { stored } = await client.session(sessionId);
  unopened.set(sessionId, runId);
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
  unopened.delete(sessionId);
  return { runId, span: 'first' };
}

/** Runs of a chat that can be stopped, also one that no worker has opened yet. */
export async function stoppable(
  submitting: Pick<Submitting, 'deliveries'>,
  chat: Chat,
): Promise<readonly string[]> {
  const { openRuns } = await chat.client.session(chat.sessionId);
  const unopened = await unopenedRun(submitting, chat);
  return unopened === undefined || openRuns.includes(unopened) ? openRuns : [...openRuns, unopened];
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
