/**
 * Chunks on their way to readers in this process, whichever handle of the store they use: from writers in the same
 * process before they are stored, from others when they are.
 * Invariants: nobody who sends ever waits; a reader that is slow loses what waits for it here, and finds it in
 * the store.
 */
import type { WrittenChunk, StreamBatch, StreamOf } from './changes.js';

/** One reader's ear. */
export interface StreamWatch {
  /** What has come since the last call, in the order of its attempts. */
  take(): readonly StreamBatch[];
  /** Resolves when there may be something new, after `limitMs`, or when `signal` aborts. */
  wait(limitMs: number, signal?: AbortSignal): Promise<void>;
  stop(): void;
}

export interface StreamBus {
  /** Of a writer in this process. */
  send(batch: StreamBatch): void;
  /** Of any writer: readers that hear of their run from this process know it already. */
  pass(chunk: WrittenChunk): void;
  /** Something about this run has changed in the store. */
  wake(run: StreamOf): void;
  /** Something has changed in the store, of whatever run. */
  wakeAll(): void;
  watch(run: StreamOf): StreamWatch;
  /** Somebody is waiting for the store to change. */
  watched(): boolean;
  /** Somebody does not hear of their run from this process. */
  awaitsOthers(): boolean;
}

/** Batches that wait for one reader. */
const WAITING_MAX = 2_000;
/** A reader that has heard of its run does not have to look into the store as well. */
const LIVE_MS = 250;

const buses = new Map<string, StreamBus>();

/** The one bus of this process for a store. */
export function busOf(place: string): StreamBus {
  const bus = buses.get(place) ?? streamBus();
  buses.set(place, bus);
  return bus;
}

export function streamBus(): StreamBus {
  const ears = new Map<string, Set<Ear>>();
  const earsOf = (run: StreamOf): Iterable<Ear> => ears.get(keyOf(run)) ?? [];
  return {
    send(batch) {
      for (const ear of earsOf(batch)) ear.hear(batch, 'here');
    },
    pass(chunk) {
      const strangers = [...earsOf(chunk)].filter((ear) => !ear.isLiveHere());
      if (strangers.length === 0) return;
      const batch = chunk.batch();
      for (const ear of strangers) {
        if (batch === undefined) ear.wake();
        else ear.hear(batch, 'elsewhere');
      }
    },
    wake(run) {
      for (const ear of earsOf(run)) ear.wake();
    },
    wakeAll() {
      for (const some of ears.values()) for (const ear of some) if (!ear.isLive()) ear.wake();
    },
    watched: () => ears.size > 0,
    awaitsOthers: () =>
      [...ears.values()].some((some) => [...some].some((ear) => !ear.isLiveHere())),
    watch(run) {
      const key = keyOf(run);
      const ear = newEar();
      const some = ears.get(key) ?? new Set();
      ears.set(key, some.add(ear));
      return {
        take: ear.take,
        wait: ear.wait,
        stop() {
          some.delete(ear);
          if (some.size === 0 && ears.get(key) === some) ears.delete(key);
          ear.wake();
        },
      };
    },
  };
}

interface Ear extends Pick<StreamWatch, 'take' | 'wait'> {
  hear(batch: StreamBatch, from: 'here' | 'elsewhere'): void;
  wake(): void;
  isLive(): boolean;
  isLiveHere(): boolean;
}

const NEVER = Number.NEGATIVE_INFINITY;

function newEar(): Ear {
  let waiting: StreamBatch[] = [];
  let woken = false;
  let heardAt = NEVER;
  let heardHereAt = NEVER;
  let resolve: (() => void) | undefined;
  const wake = (): void => {
    woken = true;
    resolve?.();
  };
  return {
    wake,
    isLive: () => performance.now() - heardAt < LIVE_MS,
    isLiveHere: () => performance.now() - heardHereAt < LIVE_MS,
    hear(batch, from) {
      // An attempt that has said its last word is not heard again: what follows is in the store.
      heardAt = batch.entries.at(-1)?.kind === 'delta' ? performance.now() : NEVER;
      if (from === 'here') heardHereAt = performance.now();
      if (waiting.length >= WAITING_MAX) waiting = [];
      waiting.push(batch);
      wake();
    },
    take() {
      const taken = waiting;
      waiting = [];
      return taken;
    },
    async wait(limitMs, signal) {
      if (!woken && signal?.aborted !== true) {
        await new Promise<void>((done) => {
          const timer = setTimeout(done, limitMs);
          signal?.addEventListener('abort', wake, { once: true });
          resolve = () => {
            clearTimeout(timer);
            done();
          };
        });
        signal?.removeEventListener('abort', wake);
      }
      resolve = undefined;
      woken = false;
    },
  };
}

function keyOf({ tenant, runId }: StreamOf): string {
  // No identifier holds a NUL.
  return `${tenant}\0${runId}`;
}
