/**
 * The events of a run and the tokens of its models as one stream.
 * Invariants: tokens of a message come after every event that is older than it, and before the event that tells
 * of the message; tokens of a message that was told already are not shown. A stream that is late or missing
 * holds events up for a moment only.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamChunk } from '../../core/stream.js';
import type { RunHandle } from '../run-handle.js';
import type { Seen } from './read-messages.js';

/** The end of a message is stored with the message: its chunk is at most one look away. */
const LATE_MS = 1_000;
/** Messages whose late chunks are known to be late. */
const TOLD_MAX = 1_000;

export interface Streaming {
  readonly run: Pick<RunHandle, 'stream'>;
  /** Of the last message that was seen before; tokens of what is older are not shown again. */
  readonly afterSeq: number;
  /** Of the last chunk that was shown. */
  readonly afterCursor: string | undefined;
  readonly signal: AbortSignal;
}

export type SeenOrChunk = Seen | { readonly chunk: StreamChunk };

export async function* withTokens(
  events: AsyncGenerator<Seen, void, undefined>,
  { run, afterSeq, afterCursor, signal }: Streaming,
): AsyncGenerator<SeenOrChunk, void, undefined> {
  const over = new AbortController();
  const after = afterCursor === undefined ? {} : { after: afterCursor };
  const chunks = run.stream({ ...after, signal: AbortSignal.any([signal, over.signal]) });
  const order = createOrder(afterSeq);
  const event = head(events);
  const chunk = head(chunks);
  try {
    while (!event.done()) {
      const nextChunk = chunk.value();
      const nextEvent = event.value();
      if (nextChunk !== undefined && order.isTold(nextChunk)) chunk.take();
      else if (nextChunk !== undefined && order.mayShow(nextChunk)) {
        yield { chunk: chunk.take() };
        order.shown(nextChunk);
      } else if (nextEvent !== undefined && (chunk.done() || order.mayTell(nextEvent))) {
        order.told(nextEvent);
        yield event.take();
      } else await order.wait([event.arrival(), chunk.arrival()], nextEvent);
    }
  } finally {
    over.abort();
    await Promise.all([events.return(), chunks.return()]);
  }
}

interface Order {
  /** It belongs to a message that has been told. */
  isTold(chunk: StreamChunk): boolean;
  mayShow(chunk: StreamChunk): boolean;
  shown(chunk: StreamChunk): void;
  mayTell(seen: Seen): boolean;
  told(seen: Seen): void;
  /** For something new; for the chunks of a reply not too long. */
  wait(arrivals: readonly (Promise<void> | undefined)[], held: Seen | undefined): Promise<void>;
}

function createOrder(afterSeq: number): Order {
  const told = new Set<string>();
  let lastSeq = -1;
  let ended: string | undefined;
  /** The run streams, as far as is known; one that does not must not hold up each of its replies. */
  let streams = true;
  let heldSince: number | undefined;
  return {
    isTold: ({ messageId }) => told.has(messageId),
    mayShow(chunk) {
      const older = chunk.kind === 'attempt_started' ? chunk.eventsBefore - 1 : -1;
      return lastSeq >= Math.max(afterSeq, older);
    },
    shown(chunk) {
      streams = true;
      if (chunk.kind === 'attempt_ended') ended = chunk.messageId;
    },
    mayTell({ event, messages }) {
      if (event.type !== 'model_response' || messages.length === 0 || !streams) return true;
      if (event.messageId === ended) return true;
      heldSince ??= performance.now();
      if (performance.now() - heldSince < LATE_MS) return false;
      streams = false;
      return true;
    },
    told({ event }) {
      heldSince = undefined;
      // After a reset the same messages are said anew.
      if (event.stamp.seq <= lastSeq) told.clear();
      lastSeq = event.stamp.seq;
      if (event.type !== 'model_response') return;
      told.add(event.messageId);
      const [oldest] = told;
      if (told.size > TOLD_MAX && oldest !== undefined) told.delete(oldest);
    },
    async wait(arrivals, held) {
      const waits = arrivals.filter((arrival) => arrival !== undefined);
      if (held === undefined) return Promise.race(waits);
      const stop = new AbortController();
      const late = sleep(LATE_MS, undefined, { signal: stop.signal }).catch(() => undefined);
      await Promise.race([...waits, late]).finally(() => stop.abort());
    },
  };
}

interface Head<T> {
  /** What has arrived and was not taken. */
  value(): T | undefined;
  take(): T;
  done(): boolean;
  /** Of the next one; undefined when one is there or none will come. */
  arrival(): Promise<void> | undefined;
}

/** One item of a generator ahead. */
function head<T>(items: AsyncGenerator<T, void, undefined>): Head<T> {
  let arrived: { readonly value: T } | undefined;
  let isDone = false;
  let coming: Promise<void> | undefined;
  async function fetch(): Promise<void> {
    const next = await items.next();
    if (next.done) isDone = true;
    else arrived = { value: next.value };
    coming = undefined;
  }
  return {
    value: () => arrived?.value,
    take() {
      const { value } = arrived!;
      arrived = undefined;
      return value;
    },
    done: () => isDone && arrived === undefined,
    arrival() {
      if (arrived !== undefined || isDone) return undefined;
      if (coming === undefined) {
        coming = fetch();
        // It may fail while the other one is what is waited for; it fails again where it is.
        coming.catch(() => undefined);
      }
      return coming;
    },
  };
}
