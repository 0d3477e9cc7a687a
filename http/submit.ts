/**
 * A message of a chat's user goes to a run: to the one that is open, or to one of its own.
 * Invariants: messages of one chat are handed over one after the other; a message that a run has heard is handed over no
 * more, whichever process did it; a message that was left out by a run which ended is handed over again.
 */
import { checkMessage } from '../client/decide/check-message.js';
import type { SessionOptions } from '../client/index.js';
import { Problem } from '../console/http/problem.js';
import { sha256Hex } from '../core/json/json.js';
import { HoldfastError } from '../core/state/errors.js';
import { begunBefore } from './begins.js';
import {
  heardAs,
  isThere,
  nameOf,
  newestInTime,
  newestOf,
  onlyWhenGone,
  runIdOf,
  sessionIn,
  unopenedRun,
  type Chat,
} from './chat.js';
import type { Deliveries, Speaking } from './deliveries.js';
import type { CheckedOptions } from './options.js';
import { revise, type Beginning } from './revise.js';
import type { SaidMessage } from './said.js';
import {
  dropNote,
  isSentOn,
  leftBefore,
  note,
  sendOn,
  takeAlong,
  takenBy,
  wholeOf,
  withTaken,
  type Unread,
} from './unread.js';

/** Longest wait of a request until the run of its message is open; the run goes on. */
const OPEN_LIMIT_MS = 60_000;

export interface Submitting {
  readonly options: CheckedOptions;
  readonly deliveries: Deliveries;
}

/** Errors: as `HoldfastClient.start` and `message`; a Problem for a change that is not possible. */
export async function submit(
  submitting: Submitting,
  given: Chat,
  said: SaidMessage,
): Promise<Speaking> {
  const { deliveries } = submitting;
  return deliveries.inTurn(given.base, async () => {
    const chat = await newestInTime(deliveries, given);
    const message = await withTaken(chat, said);
    if (said.change !== undefined && (await takenBy(chat, said.id)) !== undefined) refuseTaken();
    const changed =
      message.change === undefined
        ? undefined
        : await revise({ deliveries, begin: (at) => begun(submitting, at) }, chat, message);
    return changed ?? (await submitNow(submitting, chat, message)) ?? refuseChanged();
  });
}

async function submitNow(
  submitting: Submitting,
  chat: Chat,
  message: Handed,
): Promise<Speaking | undefined> {
  const { deliveries } = submitting;
  const known = message.change === undefined ? deliveries.of(runIdOf(chat, message.id)) : undefined;
  if (known !== undefined) return known;
  const handed = await handedOver(submitting, chat, message);
  if (handed === undefined) return undefined;
  deliveries.remember(runIdOf(handed.chat, message.id), handed.at);
  return handed.at;
}

/** A message that its run did not hear any more; undefined: a change has taken it out of the chat since. */
export async function submitAgain(
  submitting: Submitting,
  given: Chat,
  { message, unheard }: { readonly message: SaidMessage; readonly unheard: Speaking },
): Promise<Speaking | undefined> {
  const { deliveries } = submitting;
  return deliveries.inTurn(given.base, async () => {
    const chat = await newestOf(deliveries, given);
    if (chat.sessionId !== sessionIn(unheard.runId)) return undefined;
    deliveries.forget(runIdOf(chat, message.id), unheard);
    const { id, text } = message;
    return submitNow(submitting, chat, { id, text, isAgain: true });
  });
}

function refuseTaken(): never {
  const detail = 'The message was read together with the one behind it.';
  const hint = 'Load the conversation again, and change the words that it has.';
  throw new Problem(409, { code: 'not_possible', detail, hint });
}

function refuseChanged(): never {
  const detail = 'The conversation is being changed elsewhere.';
  throw new Problem(409, { code: 'busy', detail, hint: 'Load it again.' });
}

/** Runs that end one after the other before they hear a message. */
const RUNS_MAX = 3;

interface Handed extends SaidMessage {
  /** It was said before the changes that are under way, and goes behind none. */
  readonly isAgain?: boolean;
}

interface HandedTo {
  /** At the session that it is in. */
  readonly chat: Chat;
  readonly at: Speaking;
}

/** undefined: the conversation was changed elsewhere. */
async function handedOver(
  submitting: Submitting,
  given: Chat,
  message: Handed,
): Promise<HandedTo | undefined> {
  let chat = given;
  const { client } = chat;
  const own = runIdOf(chat, message.id);
  // The message was sent before: its run answers it, or has answered it and is told again.
  if (await isThere(chat, own)) return { chat, at: { runId: own, span: 'first' } };
  for (let tries = 0; tries < RUNS_MAX; tries += 1) {
    const { openRuns } = await client.session(chat.sessionId);
    const open = openRuns[0] ?? (await unopenedRun(submitting.deliveries, chat));
    const after = open === undefined ? -1 : await client.conversations.lastSeq(open);
    // Looked for after the run that is open: what one heard that has closed meanwhile is found.
    const heard = await heardBefore(chat, message.id);
    if (heard !== undefined) return { chat, at: heard };
    const taker = await takenBy(chat, message.id);
    if (taker !== undefined) return { chat, at: { runId: taker, span: 'first' } };
    const to = open ?? (await begunBefore(chat, message));
    if (to === undefined) {
      const at = await begunWithLeft(submitting, chat, message);
      if (at === undefined) continue;
      return { chat, at };
    }
    const isChanged = open === undefined && sessionIn(to) !== chat.sessionId;
    if (isChanged && message.isAgain === true) return undefined;
    if (isChanged) chat = { ...chat, sessionId: sessionIn(to) };
    const at = await toldInOrder(chat, message, { runId: to, after });
    if (at !== undefined) return { chat, at };
    // The run of the change has closed: the chat goes on behind it, or as it was.
    if (isChanged) chat = await newestOf(submitting.deliveries, chat);
  }
  if (chat.sessionId !== given.sessionId) return undefined;
  const at = await begunWithLeft(submitting, chat, message);
  return at === undefined ? undefined : { chat, at };
}

/** With what runs before have left unread; undefined: another message has taken this one. */
async function begunWithLeft(
  submitting: Submitting,
  chat: Chat,
  message: SaidMessage,
): Promise<Speaking | undefined> {
  const before = await leftBefore(chat, message.id);
  if (before.taker !== undefined) return { runId: before.taker, span: 'first' };
  if (!(await takeAlong(chat, message, before))) return undefined;
  return begun(submitting, { chat, message: await withTaken(chat, message) });
}

async function heardBefore(chat: Chat, messageId: string): Promise<Speaking | undefined> {
  const [own] = await heardAs(chat, messageId);
  return own && { runId: own.runId, span: { seq: own.seq } };
}

interface OpenAt {
  readonly runId: string;
  /** Number of its newest event. */
  readonly after: number;
}

/** Behind what runs before have left unread. */
async function toldInOrder(
  chat: Chat,
  message: SaidMessage,
  at: OpenAt,
): Promise<Speaking | undefined> {
  const { older, own, taker } = await leftBefore(chat, message.id);
  if (taker !== undefined) return { runId: taker, span: 'first' };
  for (const one of older) await toldTo(chat, one, { ...at, left: one });
  return toldTo(chat, message, { ...at, left: own });
}

/** undefined: the run has closed, or another message has taken this one. `left`: by a run before. */
async function toldTo(
  chat: Chat,
  message: Pick<SaidMessage, 'id' | 'text'>,
  { runId, after, left }: OpenAt & { readonly left: Unread | undefined },
): Promise<Speaking | undefined> {
  const { id, text } = message;
  const named = nameOf(id);
  // What no run takes is not told later either.
  checkMessage({ text, id: named });
  if (left?.runId !== runId) await note(chat, message, { runId, after });
  if (left !== undefined && left.runId !== runId && !(await sendOn(chat, left))) {
    // Another process has sent it to this run, whose note is the same one, or a message has taken it along.
    if (!(await isSentOn(chat, left))) await dropNote(chat, id, runId);
    return undefined;
  }
  const sent = await chat.client.message(runId, text, named).catch(onlyWhenGone);
  return sent === undefined ? undefined : { runId, span: { named, text, after } };
}

async function begun(
  { options: { agent, start = {} }, deliveries: { unopened } }: Submitting,
  { chat, message, session }: Beginning,
): Promise<Speaking> {
  const { id, text } = message;
  const { client, caller, sessionId } = chat;
  const runId = runIdOf(chat, id);
  const goal = wholeOf(message);
  unopened.set(sessionId, { runId, words: sha256Hex(text), text: goal });
  try {
    await client.start({
      openLimitMs: OPEN_LIMIT_MS,
      ...start,
      agent,
      runId,
      task: { goal, caller },
      cwd: 'chat',
      ...(session ?? (await goingOn(chat))),
      settings: { includePartialMessages: true, ...start.settings, persistSession: true },
    });
  } catch (error) {
    // The message was sent before, and its run has ended: what it said is told again.
    if (!(error instanceof HoldfastError) || error.code !== 'RunExists') throw error;
  }
  unopened.delete(sessionId);
  return { runId, span: 'first' };
}

/** A run that has just closed has stored the session. */
async function goingOn({ client, sessionId }: Chat): Promise<SessionOptions> {
  const { stored } = await client.session(sessionId);
  return stored === undefined ? { sessionId } : { resume: sessionId };
}
