/**
 * The user's messages, one at a time: the next one is taken when the run waits for it, and the conversation is
 * closed when there are no more. A message that was taken is delivered, over outages.
 */
import { randomUUID } from 'node:crypto';
import type { RunEvent } from '../../core/event.js';
import { isPending, onlyWhenEnded, type Questioned } from './answer-asks.js';
import { textOfPrompt } from './check-query.js';
import type { UserPrompt } from './options.js';
import { overOutages } from './outages.js';

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
    const next = await input.next();
    if (signal.aborted) return;
    const { run } = asked;
    if (next.done) return overOutages(() => run.close().catch(onlyWhenEnded), signal);
    const { text, id = `msg_${randomUUID()}` } = textOfPrompt(next.value);
    await overOutages(async () => void (await run.sendMessage(text, id)), signal);
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
