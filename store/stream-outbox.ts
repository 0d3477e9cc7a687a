/**
 * Chunks on their way into the store, of all streams of this process together: one write for what has come
 * within a moment.
 * Invariants: nobody who adds ever waits; what waits has a limit, and what does not fit is not taken; chunks of
 * an attempt are written in order, or not at all.
 */
import type { StreamBatch } from './changes.js';
import { STREAM_BATCH_ENTRIES } from './streams.js';

export type StreamWriter = Pick<StreamBatch, 'tenant' | 'runId' | 'fence'>;

export interface StreamOutbox {
  /**
   * `full`: there is no room, and this is not taken. `refused`: the attempt may not stream any more. `chars` is
   * how large the batch is.
   */
  add(batch: StreamBatch, chars: number): 'taken' | 'full' | 'refused';
  /** What of an attempt is not written, and will not be from here. */
  rest(writer: StreamWriter): Promise<readonly StreamBatch[]>;
  /** Writes no more. */
  close(): void;
}

/** Stores batches; gives the refused ones. Fails while the store cannot be written. */
export type WriteBatches = (batches: readonly StreamBatch[]) => Promise<readonly StreamBatch[]>;

/** A chunk waits so long for others, in ms, and so long for the write before: many streams share one. */
const WRITE_MS = { gather: 5, apart: 15 } as const;
/** Until a write that failed is tried again, in ms: somebody may have held the lock for a moment. */
const RETRY_MS = { first: 5, growth: 1.5, last: 1_000 } as const;
const CHARS_MAX = 8 * 1024 * 1024;
const CHARS_PER_ATTEMPT_MAX = 1024 * 1024;
/** Longest wait for a write that is under way. */
const SETTLE_MS = 2_000;
const REFUSED_MAX = 1_000;

export function streamOutbox(write: WriteBatches): StreamOutbox {
  const waiting = waitingRoom();
  const refused = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let failures = 0;
  let wroteAt = Number.NEGATIVE_INFINITY;
  let closed = false;

  async function flush(): Promise<void> {
    const taken = waiting.takeAll();
    try {
      for (const batch of await write(taken.flatMap(({ batches }) => batches))) {
        refused.add(keyOf(batch));
      }
      failures = 0;
      waiting.left(taken);
      forgetOldest(refused);
    } catch {
      // Whatever is wrong with the store, those who write what must last will say so.
      failures += 1;
      waiting.putBack(taken);
    }
  }

  function pauseMs(): number {
    if (failures > 0) {
      return Math.min(RETRY_MS.first * RETRY_MS.growth ** (failures - 1), RETRY_MS.last);
    }
    return Math.max(WRITE_MS.gather, wroteAt + WRITE_MS.apart - performance.now());
  }

  function schedule(): void {
    if (closed || timer !== undefined || writing !== undefined || waiting.isEmpty()) return;
    timer = setTimeout(() => {
      timer = undefined;
      wroteAt = performance.now();
      writing = flush().finally(() => {
        writing = undefined;
        schedule();
      });
    }, pauseMs());
    timer.unref();
  }

  return {
    add(batch, chars) {
      if (refused.has(keyOf(batch))) return 'refused';
      if (closed || !waiting.add(batch, chars)) return 'full';
      schedule();
      return 'taken';
    },
    async rest(writer) {
      // What is on its way must not arrive behind the last chunk.
      if (writing !== undefined) await settled(writing);
      return waiting.take(writer);
    },
    close() {
      closed = true;
      clearTimeout(timer);
      waiting.takeAll();
    },
  };
}

/** Of one attempt. */
interface Waiting {
  readonly batches: StreamBatch[];
  chars: number;
}

interface WaitingRoom {
  isEmpty(): boolean;
  /** False: there is no room. */
  add(batch: StreamBatch, chars: number): boolean;
  take(writer: StreamWriter): readonly StreamBatch[];
  /** Keeps their room until they have left, or are put back. */
  takeAll(): readonly Waiting[];
  left(taken: readonly Waiting[]): void;
  putBack(taken: readonly Waiting[]): void;
}

function waitingRoom(): WaitingRoom {
  const waiting = new Map<string, Waiting>();
  let chars = 0;
  return {
    isEmpty: () => waiting.size === 0,
    add(batch, more) {
      const key = keyOf(batch);
      const before = waiting.get(key) ?? { batches: [], chars: 0 };
      if (chars + more > CHARS_MAX || before.chars + more > CHARS_PER_ATTEMPT_MAX) return false;
      join(before.batches, batch);
      before.chars += more;
      chars += more;
      waiting.set(key, before);
      return true;
    },
    take(writer) {
      const taken = waiting.get(keyOf(writer));
      waiting.delete(keyOf(writer));
      chars -= taken?.chars ?? 0;
      return taken?.batches ?? [];
    },
    takeAll() {
      const taken = [...waiting.values()];
      waiting.clear();
      return taken;
    },
    left(taken) {
      for (const one of taken) chars -= one.chars;
    },
    putBack(taken) {
      for (const { batches, chars: size } of taken) {
        const key = keyOf(batches[0]!);
        const newer = waiting.get(key);
        waiting.set(key, {
          batches: [...batches, ...(newer?.batches ?? [])],
          chars: size + (newer?.chars ?? 0),
        });
      }
    },
  };
}

/** What follows the last batch becomes part of it. */
function join(batches: StreamBatch[], batch: StreamBatch): void {
  const last = batches.at(-1);
  const follows =
    last !== undefined &&
    last.first + last.entries.length === batch.first &&
    last.entries.length + batch.entries.length <= STREAM_BATCH_ENTRIES;
  if (!follows) batches.push(batch);
  else batches[batches.length - 1] = { ...last, entries: [...last.entries, ...batch.entries] };
}

function forgetOldest(keys: Set<string>): void {
  for (const key of keys) {
    if (keys.size <= REFUSED_MAX) return;
    keys.delete(key);
  }
}

async function settled(writing: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, SETTLE_MS);
  });
  await Promise.race([writing, late]);
  clearTimeout(timer);
}

function keyOf({ tenant, runId, fence }: StreamWriter): string {
  // No identifier holds a NUL.
  return `${tenant}\0${runId}\0${fence}`;
}
