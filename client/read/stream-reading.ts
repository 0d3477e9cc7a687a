/**
 * Where one reader is in the stream of a run. Chunks come to it from two sides, from this process and from the
 * store, twice or not at all on either.
 * Invariants: what leaves is in order and leaves once; nothing is passed over in silence.
 */
import { HoldfastError } from '../../core/state/errors.js';
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
} from '../../pure/stream.js';
import type { StreamPage } from '../../store/streams.js';
import type { StreamBatch } from '../../store/changes.js';

/** So long a chunk waits for those before it, which may be on their way into the store. */
const HOLE_MS = 1_000;
/** Batches that wait for those before them. */
const HEARD_MAX = 4_000;

export interface Reading {
  place(): StreamPlace;
  /** Something was read before. */
  hasBegun(): boolean;
  /** Chunks wait for those before them. */
  isMissing(): boolean;
  /** What came from this process: as far as nothing is missing before it. The rest waits. */
  hear(batches: readonly StreamBatch[]): readonly StreamChunk[];
  /** What is in the store: what is missing there is lost. */
  read(batches: readonly StreamBatch[]): readonly StreamChunk[];
  /** The run is over: an attempt that has not ended never will. */
  end(open: StreamPage['open']): readonly StreamChunk[];
}

export function startReading(after: string | undefined, now: () => number): Reading {
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
    isMissing: () => holeSince !== undefined,
    hear(batches) {
      const waiting = [...heard, ...batches].slice(-HEARD_MAX);
      heard = [];
      const late = holeSince !== undefined && now() - holeSince > HOLE_MS;
      const chunks = takeAll(waiting, late);
      holeSince = heard.length === 0 ? undefined : (holeSince ?? now());
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
