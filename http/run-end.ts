/** What is waited for when a run has told its end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chat } from './chat.js';

interface ReadRun {
  readonly chat: Chat;
  readonly runId: string;
  /** Nobody reads any more. */
  readonly left: AbortSignal;
}

/** How long a run that has told its end may take to close before its reader hears of the end all the same, in ms. */
const CLOSE_MS = 10_000;
const LOOK_MS = 40;

/** Whoever hears of the end may go on: by then the run has stored the conversation. */
export async function untilClosed({ chat, runId, left }: ReadRun): Promise<void> {
  const until = performance.now() + CLOSE_MS;
  while (!left.aborted && performance.now() < until) {
    try {
      if ((await chat.client.handle(runId).execution('brief')).closed) return;
    } catch {
      // Gone, or nobody can say.
      return;
    }
    await sleep(LOOK_MS);
  }
}

/** How long the result of a run that has told its end is waited for, in ms. */
const RESULT_MS = 60_000;

/**
 * Whether the run has closed without hearing a message. What came after its last event is in its result alone, and a
 * run that is still closing would take the message once more and not hear it.
 */
export async function hasLeftOut({ chat, runId, left }: ReadRun): Promise<boolean> {
  try {
    const result = await chat.client.handle(runId).result({ timeoutMs: RESULT_MS, signal: left });
    return result.unprocessed?.includes('user_message') === true;
  } catch {
    // Without a result nothing says so, and a message that may have been heard is not handed over again.
    return false;
  }
}
