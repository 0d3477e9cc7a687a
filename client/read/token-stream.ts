/**
 * The tokens of a run's models as they come: from this process at once, else from the store.
 * Invariants: in order, each chunk once, over reconnects too; what is missing is said; ends with the run.
 */
import type { StreamChunk } from '../../pure/stream.js';
import { runHasEnded } from './event-stream.js';
import { type Link, storeOf } from '../link.js';
import { startReading } from './stream-reading.js';

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
  const { signal } = options;
  const reader = openReader(link, runId, options);
  try {
    while (signal?.aborted !== true) {
      // Without a promise: there are many such chunks, and it costs more than they do.
      const { chunks, over, more } = reader.hear() ?? (await reader.look());
      for (const chunk of chunks) yield chunk;
      if (over) return;
      if (!more) await reader.wait(signal);
    }
  } finally {
    reader.stop();
  }
}

interface Look {
  /** What is new. */
  readonly chunks: readonly StreamChunk[];
  /** There is more already, for which nothing wakes a reader any more. */
  readonly more: boolean;
  /** After this nothing comes. */
  readonly over: boolean;
}

interface Reader {
  /** What came from this process; undefined: what there is to know is in the store. */
  hear(): Look | undefined;
  /** What is in the store. */
  look(): Promise<Look>;
  wait(signal: AbortSignal | undefined): Promise<void>;
  stop(): void;
}

function openReader(link: Link, runId: string, { after, untilNow = false }: StreamOptions): Reader {
  const store = storeOf(link);
  const run = { tenant: link.tenant, runId };
  const now = (): number => performance.now();
  const reading = startReading(after, now);
  const watch = store.live.watch(run);
  const ending = endingOf(link, runId);
  let liveUntil = 0;
  return {
    hear() {
      const chunks = reading.hear(watch.take());
      if (chunks.length > 0) {
        ending.putOff();
        liveUntil = chunks.at(-1)?.kind === 'delta' ? now() + LOOK_MS : 0;
        return { chunks, more: true, over: false };
      }
      // As long as an attempt speaks to us there is nothing in the store that we do not hear.
      const isLive = !untilNow && now() < liveUntil && !reading.isMissing();
      return isLive ? { chunks, more: false, over: false } : undefined;
    },
    async look() {
      const page = await store.readStream(run, reading.place());
      const chunks = reading.read(page.batches);
      if (chunks.length > 0) {
        ending.putOff();
        // After the last word of an attempt nothing else may come that wakes us.
        const isLast = untilNow || chunks.at(-1)?.kind !== 'delta';
        return { chunks, more: page.more || isLast, over: false };
      }
      const over =
        page.closed ||
        untilNow ||
        (await ending.isThere(page.open !== undefined, reading.hasBegun()));
      const isDead = page.closed || (over && !untilNow);
      return { chunks: isDead ? reading.end(page.open) : [], more: false, over };
    },
    wait: (signal) => watch.wait(LOOK_MS, signal),
    stop: () => watch.stop(),
  };
}

interface Ending {
  /** Whether the run was over before the last look into the store. */
  isThere(isOpen: boolean, known: boolean): Promise<boolean>;
  /** Whoever speaks is there. */
  putOff(): void;
}

/** Temporal is asked when a run is silent: for a run that speaks, its stream tells. */
function endingOf(link: Link, runId: string): Ending {
  let askedAt: number | undefined;
  let over = false;
  return {
    putOff() {
      askedAt = performance.now();
    },
    async isThere(isOpen, known) {
      if (over) return true;
      if (askedAt === undefined && isOpen) askedAt = performance.now();
      if (askedAt !== undefined && performance.now() - askedAt < ASK_MS) return false;
      over = await runHasEnded(link, runId, known);
      askedAt = performance.now();
      // One more look after that, because the last chunks may have come in between.
      return false;
    },
  };
}
