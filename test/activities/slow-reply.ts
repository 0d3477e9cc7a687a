/** A reply that is under way for as long as a test needs, and is seen when it begins to come. */
import type { ScriptedReply } from '../../providers/scripted/script.js';
import { RUN, type Bed } from './setup.js';

export const SLOW: ScriptedReply = { text: 'word '.repeat(50), chunks: 50, chunkDelayMs: 200 };
/** Of the input of its call. */
export const STREAMED = { stream: { keepMs: 60_000 } };

/** Resolves when a first piece of a streamed reply is there. */
export async function arriving(bed: Bed): Promise<void> {
  const watch = bed.store.live.watch(RUN);
  while (!watch.take().some(({ entries }) => entries.some(({ kind }) => kind === 'delta'))) {
    await watch.wait(5_000);
  }
  watch.stop();
}
