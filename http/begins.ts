/**
 * Which run a chat begins next, where several processes serve it.
 * Invariants: of messages that come at once one begins a run, and the others are told to it: two runs of one session would part
 * it, and the chat would lose what one of them heard; a session that a change has kept begins no run while the change is there.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256Hex } from '../core/json/json.js';
import { onlyWhenGone, runIdOf, sessionIn, startedBy, type Chat } from './chat.js';
import { untilClosed } from './run-end.js';
import type { SaidMessage } from './said.js';

/** Runs that came to nothing, one after the other, that are passed over. */
const PASSED_MAX = 50;
/** How long a run that is to begin may take to be there, in ms. */
const START_MS = 5_000;
const LOOK_MS = 100;
const OLD_MS = 600_000;
/** Two servers' clocks differ by less. */
const CLOCKS_MS = 60_000;

/**
 * The run that begins in place of the message's own; undefined: that one may. One of another session is that of a change. `new`:
 * a session that nobody has begun, as far as this process knows.
 */
export async function begunBefore(
  chat: Chat,
  { id, text }: Pick<SaidMessage, 'id' | 'text'>,
  session: 'going_on' | 'new' = 'going_on',
): Promise<string | undefined> {
  const run = runIdOf(chat, id);
  return firstAt(chat, {
    // With its words: a message that is changed twice at once has one run, and one of the changes.
    own: `${run}#${sha256Hex(text).slice(0, 16)}`,
    isNew: session === 'new',
    // A message that no run has heard is no longer changed.
    passes: async (runId) => runId !== run && runId.endsWith(`.${startedBy(id)}`),
  });
}

interface Keeping {
  /** Begun by the change. */
  readonly run: string;
  /** Runs that the change stops. */
  readonly stopped: readonly string[];
}

/**
 * Keeps the session for a change, which begins another one: a message that comes from now on begins no run here, and finds the
 * run of the change. The run that came before the change; undefined: none.
 */
export async function keptBefore(
  chat: Chat,
  { run, stopped }: Keeping,
): Promise<string | undefined> {
  return firstAt(chat, {
    // A name for each try: messages may have passed over the place of one that came to nothing.
    own: `${run}#${randomUUID()}`,
    async passes(runId) {
      if (runId === run || stopped.includes(runId)) return true;
      if (await hasToldEnd(chat, runId)) {
        await untilClosed({ chat, runId, left: new AbortController().signal });
      }
      return false;
    },
  });
}

interface Asking {
  readonly own: string;
  readonly isNew?: boolean;
  /** Whether this run is none that comes before. */
  passes(runId: string): Promise<boolean>;
}

async function firstAt(
  chat: Chat,
  { own, isNew = false, passes }: Asking,
): Promise<string | undefined> {
  const { client, sessionId } = chat;
  const { stored } = isNew ? {} : await client.session(sessionId);
  const waits = waitsFrom(Date.now(), performance.now());
  // Each run that ends in order makes one revision, so that whoever begins at once asks for the same place.
  const first = stored?.revision ?? 0;
  for (let place = first; place < first + PASSED_MAX; place += 1) {
    const { name, at } = await client.conversations.begins(`${sessionId}#${place}`, own);
    if (name === own) return undefined;
    const runId = name.split('#')[0]!;
    if (await passes(runId)) continue;
    if (await isComing(chat, runId, waits(at))) return runId;
    // Its run may have ended meanwhile: the session is that run's all the same.
    if (isNew && (await client.conversations.lastSeq(runId)) !== -1) return runId;
    if (await hasChanged(chat, runId)) return runId;
  }
  return undefined;
}

/** Whether it is a run of a change, and the chat goes on with what it has stored. */
async function hasChanged({ client, sessionId }: Chat, runId: string): Promise<boolean> {
  const other = sessionIn(runId);
  return other !== sessionId && (await client.session(other)).stored !== undefined;
}

/** It may still be closing. */
async function hasToldEnd({ client, sessionId }: Chat, runId: string): Promise<boolean> {
  if ((await client.conversations.lastSeq(runId)) === -1) return false;
  return !(await client.session(sessionId)).openRuns.includes(runId);
}

/**
 * Until when a run is waited for that was begun `at`. Those that surely were begun before the first look have all had time since
 * then; another process may have begun a later one while we waited.
 */
function waitsFrom(looked: number, now: number): (at: number) => number {
  return (at) => {
    if (looked - at > OLD_MS) return now;
    return (looked - at > CLOCKS_MS ? now : performance.now()) + START_MS;
  };
}

/** Whether it is open, or will be. */
async function isComing({ client }: Chat, runId: string, until: number): Promise<boolean> {
  for (;;) {
    const execution = await client.handle(runId).execution('brief').catch(onlyWhenGone);
    if (execution !== undefined) return !execution.closed;
    if (performance.now() >= until) return false;
    await sleep(LOOK_MS);
  }
}
