/**
 * Events and tokens of a run as one sequence, in the order of their causes.
 * Invariants: tokens of a message come after every event that is older than it, and before the event that tells
 * of the message; tokens of a message that was told already are not given. A stream that is late or missing
 * holds events up for a moment only. Ends with the events.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunEvent } from '../../core/state/event.js';
import type { StreamChunk } from '../../pure/stream.js';
import { firstOf } from '../first-of.js';
import type { RunHandle } from './run-handle.js';

export type RunMoment =
  | { readonly kind: 'event'; readonly event: RunEvent }
  | { readonly kind: 'chunk'; readonly chunk: StreamChunk };

/** From where events are followed, and until when. */
export interface FollowOptions {
  /** First event wanted; default 0. */
  readonly since?: number;
  /** `cursor` of the last chunk that was seen. */
  readonly after?: string;
  /** Replies that are told before this event are told without their tokens; default 0. */
  readonly tokensSince?: number;
  readonly signal?: AbortSignal;
}

/** The end of a message is stored with the message: its chunk is at most one look away. */
const LATE_MS = 1_000;
/** Messages whose late chunks are known to be late. */
const TOLD_MAX = 1_000;

export async function* followRun(
  run: Pick<RunHandle, 'events' | 'stream'>,
  options: FollowOptions = {},
): AsyncGenerator<RunMoment, void, undefined> {
  const { since = 0, after, tokensSince = 0 } = options;
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  options.signal?.addEventListener('abort', leave, { once: true });
  if (options.signal?.aborted === true) leave();
  const { signal } = leaving;
  const events = run.events({ since, signal });
  const chunks = run.stream({ signal, ...(after !== undefined && { after }) });
  try {
    yield* inOrder(oneAhead(events), oneAhead(chunks), orderFrom(since, tokensSince));
  } finally {
    leave();
    options.signal?.removeEventListener('abort', leave);
    await Promise.all([events.return(), chunks.return()]);
  }
}

async function* inOrder(
  events: Ahead<RunEvent>,
  chunks: Ahead<StreamChunk>,
  order: Order,
): AsyncGenerator<RunMoment, void, undefined> {
  while (!events.done()) {
    const chunk = chunks.first();
    const event = events.first();
    if (chunk !== undefined && order.isTold(chunk)) chunks.take();
    else if (chunk !== undefined && order.mayShow(chunk)) {
      chunks.take();
      order.shown(chunk);
      yield { kind: 'chunk', chunk };
    } else if (event !== undefined && (chunks.done() || order.mayTell(event, chunk))) {
      events.take();
      order.told(event);
      yield { kind: 'event', event };
    } else await arrivalOf([events.next(), chunks.next()], event !== undefined);
  }
}

/** Something new; for what holds an event up not too long. */
async function arrivalOf(
  arrivals: readonly (Promise<void> | undefined)[],
  isHeld: boolean,
): Promise<void> {
  const waits = arrivals.filter((arrival) => arrival !== undefined);
  if (!isHeld) return firstOf(waits);
  const stop = new AbortController();
  const late = sleep(LATE_MS, undefined, { signal: stop.signal }).catch(() => undefined);
  await firstOf([...waits, late]).finally(() => stop.abort());
}

interface Order {
  /** It belongs to a message that has been told. */
  isTold(chunk: StreamChunk): boolean;
  mayShow(chunk: StreamChunk): boolean;
  shown(chunk: StreamChunk): void;
  /** `next`: the first chunk that was not shown. */
  mayTell(event: RunEvent, next: StreamChunk | undefined): boolean;
  told(event: RunEvent): void;
}

function orderFrom(since: number, tokensSince: number): Order {
  const told = new Set<string>();
  let lastSeq = since - 1;
  let ended: string | undefined;
  /** As far as is known; a run that does not stream must not be held up at each of its replies. */
  let streams = true;
  let heldSince: number | undefined;
  return {
    isTold: ({ messageId }) => told.has(messageId),
    mayShow: (chunk) => chunk.kind !== 'attempt_started' || chunk.eventsBefore - 1 <= lastSeq,
    shown(chunk) {
      streams = true;
      if (chunk.kind === 'attempt_ended') ended = chunk.messageId;
    },
    mayTell(event, next) {
      if (event.type !== 'model_response' || event.messageId === ended || !streams) return true;
      if (event.stamp.seq < tokensSince) return true;
      // Chunks go on behind the reply that it tells of.
      if (next?.kind === 'attempt_started' && next.eventsBefore > event.stamp.seq) return true;
      heldSince ??= performance.now();
      if (performance.now() - heldSince < LATE_MS) return false;
      streams = false;
      return true;
    },
    told(event) {
      heldSince = undefined;
      // After a reset the same messages are said anew.
      if (event.stamp.seq <= lastSeq) told.clear();
      lastSeq = event.stamp.seq;
      if (event.type !== 'model_response') return;
      told.add(event.messageId);
      const [oldest] = told;
      if (told.size > TOLD_MAX && oldest !== undefined) told.delete(oldest);
    },
  };
}

/** A generator, of which one item is looked at before it is taken. */
interface Ahead<T> {
  first(): T | undefined;
  take(): void;
  /** Nothing is there and nothing will come. */
  done(): boolean;
  /** Resolves when one is there, or none will come; undefined when that is so. */
  next(): Promise<void> | undefined;
}

function oneAhead<T>(items: AsyncGenerator<T, void, undefined>): Ahead<T> {
  let here: { readonly item: T } | undefined;
  let isOver = false;
  let coming: Promise<void> | undefined;
  async function fetch(): Promise<void> {
    const { done, value } = await items.next();
    if (done === true) isOver = true;
    else here = { item: value };
    coming = undefined;
  }
  return {
    first: () => here?.item,
    take: () => (here = undefined),
    done: () => isOver && here === undefined,
    next() {
      if (here !== undefined || isOver) return undefined;
      if (coming === undefined) {
        coming = fetch();
        // Who waits for the other one hears of its failure at the next wait.
        coming.catch(() => undefined);
      }
      return coming;
    },
  };
}
