/**
 * The tokens of a run's models as they come: from this process at once, else from the store.
 * Invariants: in order, each chunk once, over reconnects too; what is missing is said; ends with the run.
 */
import { HoldfastError } from '../core/errors.js';
import {
  cursorOf,
  follows,
  isBefore,
  placeAfter,
  placeOf,
  STREAM_START,
  type StreamChunk,
  type StreamedAttempt,
  type StreamEntry,
  type StreamPlace,
} from '../core/stream.js';
import type { StreamBatch, StreamPage } from '../store/streams.js';
import { runHasEnded } from './event-stream.js';
import type { Link } from './link.js';
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
/** So long a chunk waits for those before it, which may be on their way into the store. */
const HOLE_MS = 1_000;
/** Batches that wait for those before them. */
const HEARD_MAX = 4_000;

export async function* streamOf(
  link: Link,
  runId: string,
  options: StreamOptions = {},
): AsyncGenerator<StreamChunk, void, undefined> {
  const { signal, untilNow = false } = options;
  const store = storeOf(link);
  const run = { tenant: link.tenant, runId };
  const reading = startReading(options.after);
  const watch = store.live.watch(run);
  const ending = endingOf(link, runId);
  try {
    while (signal?.aborted !== true) {
      const live = reading.hear(watch.take());
      yield* live;
      if (live.length > 0) continue;
      const page = await store.readStream(run, reading.place());
      const read = reading.read(page.batches);
      yield* read;
      if (read.length > 0) continue;
      if (page.closed || untilNow || (await ending(reading.hasBegun()))) {
        if (page.closed || !untilNow) yield* reading.end(page.open);
        return;
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

interface Reading {
  place(): StreamPlace;
  /** Something was read before. */
  hasBegun(): boolean;
  /** What came from this process: as far as nothing is missing before it. The rest waits. */
  hear(batches: readonly StreamBatch[]): readonly StreamChunk[];
  /** What is in the store: what is missing there is lost. */
  read(batches: readonly StreamBatch[]): readonly StreamChunk[];
  /** The run is over: an attempt that has not ended never will. */
  end(open: StreamPage['open']): readonly StreamChunk[];
}

function startReading(after: string | undefined): Reading {
  let place = startAfter(after);
  let heard: StreamBatch[] = [];
  let holeSince: number | undefined;

  function take(batch: StreamBatch, at: StreamPlace, entry: StreamEntry): StreamChunk[] {
    const { call, attempt, messageId } = batch;
    const self: StreamedAttempt = { call, attempt, messageId };
    const chunks: StreamChunk[] = [];
    if (!follows(place, at, entry)) chunks.push({ ...self, cursor: cursorOf(at), kind: 'gap' });
    place = placeAfter(at, entry);
    chunks.push({ ...self, ...entry, cursor: cursorOf(place) });
    return chunks;
  }

  function takeAll(batches: readonly StreamBatch[], overHoles: boolean): readonly StreamChunk[] {
    const chunks: StreamChunk[] = [];
    for (const [number, batch] of batches.entries()) {
      for (const [offset, entry] of batch.entries.entries()) {
        const at = { fence: batch.fence, index: batch.first + offset };
        if (isBefore(at, place)) continue;
        if (!overHoles && !follows(place, at, entry)) {
          heard = batches.slice(number);
          return chunks;
        }
        chunks.push(...take(batch, at, entry));
      }
    }
    return chunks;
  }

  return {
    place: () => place,
    hasBegun: () => isBefore(STREAM_START, place),
    hear(batches) {
      const waiting = [...heard, ...batches].slice(-HEARD_MAX);
      heard = [];
      const late = holeSince !== undefined && performance.now() - holeSince > HOLE_MS;
      const chunks = takeAll(waiting, late);
      holeSince = heard.length === 0 ? undefined : (holeSince ?? performance.now());
      return chunks;
    },
    read: (batches) => takeAll(batches, true),
    end(open) {
      if (open === undefined || open.fence < place.fence) return [];
      const { fence, ...attempt } = open;
      const cursor = cursorOf({ fence: fence + 1, index: 0 });
      return [{ ...attempt, cursor, kind: 'attempt_reset', reason: 'RunEnded' }];
    },
  };
}

function startAfter(after: string | undefined): StreamPlace {
  const place = after === undefined ? STREAM_START : placeOf(after);
  if (place !== undefined) return place;
  throw new HoldfastError('InvalidRequest', 'This is no cursor of a stream.', {
    hint: 'Give the `cursor` of a chunk as it was, or leave it out.',
  });
}
