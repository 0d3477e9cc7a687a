/**
 * The tokens of a run's models as they come: from this process at once, else from the store.
 * Invariants: in order, each chunk once, over reconnects too; what is missing is said; ends with the run.
 */
import type { StreamChunk } from '../core/stream.js';
import { runHasEnded } from './event-stream.js';
import type { Link } from './link.js';
import { startReading } from './stream-reading.js';
import { storeOf } from './transcript.js';

export interface StreamOptions {
  /** `cursor` of the last chunk that was seen; default: from the beginning. */
  readonly after?: string;
  /** Ends the stream; the run goes on. */
  readonly signal?: AbortSignal;
  /** Ends when everything known now has been given; default false. */
  readonly untilNow?: boolean;
}

/** Longest time between two looks into the store. */
const LOOK_MS = 250;
/** How often Temporal is asked whether a silent run is still there. */
const ASK_MS = 2_000;

export async function* streamOf(
  link: Link,
  runId: string,
  options: StreamOptions = {},
): AsyncGenerator<StreamChunk, void, undefined> {
  const { signal, untilNow = false } = options;
  const store = storeOf(link);
  const run = { tenant: link.tenant, runId };
  const reading = startReading(options.after, () => performance.now());
  const watch = store.live.watch(run);
  const ending = endingOf(link, runId);
  let liveUntil = Number.NEGATIVE_INFINITY;
  try {
    while (signal?.aborted !== true) {
      const live = reading.hear(watch.take());
      yield* live;
      if (live.length > 0) {
        // As long as an attempt speaks to us there is nothing in the store that we do not hear.
        liveUntil = live.at(-1)?.kind === 'delta' ? performance.now() + LOOK_MS : 0;
        continue;
      }
      if (performance.now() >= liveUntil || reading.isMissing()) {
        const page = await store.readStream(run, reading.place());
        const read = reading.read(page.batches);
        yield* read;
        if (read.length > 0) continue;
        if (page.closed || untilNow || (await ending(reading.hasBegun()))) {
          if (page.closed || !untilNow) yield* reading.end(page.open);
          return;
        }
      }
      await watch.wait(LOOK_MS, signal);
    }
  } finally {
    watch.stop();
  }
}

/** Whether the run was over before the last look into the store. */
function endingOf(link: Link, runId: string): (known: boolean) => Promise<boolean> {
  let askedAt = Number.NEGATIVE_INFINITY;
  let over = false;
  return async (known) => {
    if (over) return true;
    if (performance.now() - askedAt < ASK_MS) return false;
    over = await runHasEnded(link, runId, known);
    askedAt = performance.now();
    // One more look after that, because the last chunks may have come in between.
    return false;
  };
}
