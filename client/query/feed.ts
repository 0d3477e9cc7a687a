/**
 * The user's messages, one at a time: the next one is taken when the run waits for it, and the conversation is
 * closed when there are no more. A message that was taken is delivered, over outages; one that the run had before
 * is ignored, and the next one taken in its place.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../core/state/errors.js';
import type { RunEvent } from '../../core/state/event.js';
import type { RunHandle } from '../runs/run-handle.js';
import { isPending, onlyWhenEnded, type Questioned } from './answer-asks.js';
import { filesOfPrompt, idOfPrompt, textOfPrompt } from './check-query.js';
import type { UserPrompt } from './options.js';
import { overOutages } from './outages.js';

/** Between two questions to a run that nobody serves. */
const PAUSE_MS = 500;
/** Ids that are remembered here; the run remembers its own. */
const IDS_MAX = 10_000;

export interface Feed {
  notice(event: RunEvent): void;
}

export function feeding(
  input: AsyncIterator<UserPrompt>,
  asked: Questioned,
  signal: AbortSignal,
): Feed {
  let turn = Promise.resolve();
  let lastAsked: string | undefined;
  async function pull(askId: string): Promise<void> {
    if (signal.aborted || !(await isPending(asked, askId))) return;
    const { run } = asked;
    for (;;) {
      const next = await input.next();
      if (signal.aborted) return;
      if (next.done) return overOutages(() => run.close().catch(onlyWhenEnded), signal);
      const text = textOfPrompt(next.value);
      const given = idOfPrompt(next.value);
      const id = given ?? `msg_${randomUUID()}`;
      const message = { id, attachments: filesOfPrompt(next.value) };
      await overOutages(async () => void (await run.sendMessage(text, message)), signal);
      // Only the run knows what an earlier process has sent.
      if (given === undefined || !(await stillWaits(run, askId, signal))) return;
    }
  }
  return {
    notice(event) {
      if (event.type !== 'input_request' || event.kind !== 'user_message') return;
      // Told again after a reset; what was sent to the run reaches it again by itself.
      if (event.askId === lastAsked) return;
      lastAsked = event.askId;
      turn = turn.then(() => pull(event.askId)).catch(asked.fail);
    },
  };
}

/** Whether the run waits for its user as it did before the message. What it makes of one, it has begun with. */
async function stillWaits(run: RunHandle, askId: string, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    try {
      const { asks, queuedMessages } = await run.state();
      return queuedMessages === 0 && asks.some((ask) => ask.askId === askId);
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      if (error.code === 'RunNotFound') return false;
      // Nobody is there who could take the next one either.
      if (error.code !== 'ServerUnavailable') throw error;
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  }
  return false;
}

/** Without the messages whose id has come before, the first one of the conversation included. */
export function withoutRepeats(messages: AsyncIterator<UserPrompt>): AsyncIterator<UserPrompt> {
  const seen = new Set<string>();
  return {
    async next() {
      for (;;) {
        const next = await messages.next();
        const id = next.done ? undefined : idOfPrompt(next.value);
        if (id === undefined) return next;
        if (seen.has(id)) continue;
        seen.add(id);
        const [oldest] = seen;
        if (seen.size > IDS_MAX && oldest !== undefined) seen.delete(oldest);
        return next;
      }
    },
    // At once, also while a message is waited for.
    return: async () => (await messages.return?.()) ?? { done: true, value: undefined },
  };
}
