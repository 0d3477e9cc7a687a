/**
 * Where a message of a chat stands: in the conversation that is stored, in a run that is open, or nowhere.
 * Invariant: looking changes nothing.
 */
import type { HeardMessage, TranscriptMessage } from '../client/index.js';
import type { RunEvent } from '../core/state/event.js';
import { heardAs, isRunOf, isThere, runIdOf, startedBy, type Chat } from './chat.js';
import type { Speaking } from './deliveries.js';
import { runOf } from './projection/messages.js';
import type { SaidMessage } from './said.js';
import { spokenIn } from './stored.js';

export interface Sought {
  readonly message: SaidMessage;
  /** Where runs of the chat have heard it by its name. */
  readonly own: readonly HeardMessage[];
}

export async function soughtIn(chat: Chat, message: SaidMessage): Promise<Sought> {
  const named = await heardAs(chat, message.id);
  if (named.length > 0 || !isRunOf(chat, message.id)) return { message, own: named };
  // After a page was loaded the client calls the message as its conversation does.
  const heard = await chat.client.conversations.heardBy(runOf(message.id));
  return { message, own: heard.filter(({ messageId }) => messageId === message.id) };
}

/**
 * `unanswered`: its run ended before it heard the message, or broke off, so the conversation does not have it; `summarized`: a
 * summary stands for it; `unknown`: no run was given it.
 */
export type Standing =
  | { readonly kind: 'found'; readonly index: number }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unanswered' | 'summarized'; readonly run: string };

export interface Stored {
  readonly spoken: readonly TranscriptMessage[];
  readonly standing: Standing;
}

export async function storedWith(chat: Chat, sought: Sought): Promise<Stored> {
  const spoken = await spokenIn(chat, chat.sessionId);
  const index = spoken.findLastIndex(isMessage(sought, spoken));
  if (index !== -1) return { spoken, standing: { kind: 'found', index } };
  const run = await givenTo(chat, sought);
  if (run === undefined) return { spoken, standing: { kind: 'unknown' } };
  const isLost = spoken.length === 0 || (await hasBrokenOff(chat, run));
  return { spoken, standing: { kind: isLost ? 'unanswered' : 'summarized', run } };
}

/** The run that was given the message. */
async function givenTo(chat: Chat, { message, own }: Sought): Promise<string | undefined> {
  const heard = own.at(-1)?.runId;
  if (heard !== undefined) return heard;
  if (isRunOf(chat, message.id)) return runOf(message.id);
  const runId = runIdOf(chat, message.id);
  return (await isThere(chat, runId)) ? runId : undefined;
}

/** Before it was open, or before it stored its conversation. */
async function hasBrokenOff(chat: Chat, runId: string): Promise<boolean> {
  const newest = await chat.client.conversations.lastSeq(runId);
  if (newest === -1) return true;
  const [first, last] = [await eventAt(chat, runId, 0), await eventAt(chat, runId, newest)];
  return first?.type !== 'session_init' || last?.type !== 'run_result';
}

async function eventAt(chat: Chat, runId: string, since: number): Promise<RunEvent | undefined> {
  for await (const event of chat.client.handle(runId).events({ since, untilNow: true })) {
    return event;
  }
  return undefined;
}

/** The message, if it is the newest one that the run has heard. */
export async function lastIn(
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

/** Whether the run began with the message, or has heard it. */
export function isWithin(runId: string, { message, own }: Sought): boolean {
  return isStartedBy(message.id, runId) || own.some((one) => one.runId === runId);
}

export function isStartedBy(messageId: string, runId: string): boolean {
  return runId.endsWith(`.${startedBy(messageId)}`) || messageId.startsWith(`${runId}:m`);
}

export function isOfUser({ role, text, flags = [] }: TranscriptMessage): boolean {
  const isOfRuntime = flags.includes('synthetic') || flags.includes('compactSummary');
  return role === 'user' && text !== undefined && !isOfRuntime;
}

function isMessage(
  { message: { id }, own }: Sought,
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

export function placeOf({ messageId }: TranscriptMessage, { own }: Sought): Speaking {
  const heard = own.find((one) => one.messageId === messageId);
  return heard === undefined
    ? { runId: runOf(messageId), span: 'first' }
    : { runId: heard.runId, span: { seq: heard.seq } };
}
