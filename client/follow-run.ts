/**
 * Events and tokens of a run as one sequence, in the order of their causes: what a model says comes after the
 * events before its request and before the event that has its message.
 * Invariants: each event and each chunk as often as the two streams give it; ends with the events.
 */
import type { RunEvent } from '../core/event.js';
import { isBefore, placeOf, STREAM_START, type StreamChunk } from '../core/stream.js';
import type { RunHandle } from './run-handle.js';

export type RunMoment =
  | { readonly kind: 'event'; readonly event: RunEvent }
  | { readonly kind: 'chunk'; readonly chunk: StreamChunk };

export interface FollowOptions {
  /** First event wanted; default 0. */
  readonly since?: number;
  /** `cursor` of the last chunk that was seen. */
  readonly after?: string;
  readonly signal?: AbortSignal;
}

type Followed = Pick<RunHandle, 'events' | 'stream'>;

export async function* followRun(
  run: Followed,
  options: FollowOptions = {},
): AsyncGenerator<RunMoment, void, undefined> {
  const { since = 0, after } = options;
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  options.signal?.addEventListener('abort', leave, { once: true });
  if (options.signal?.aborted === true) leave();
  const { signal } = leaving;
  const events = run.events({ since, signal });
  const chunks = run.stream({ signal, ...(after !== undefined && { after }) });
  const order = ordering(run, { since, ...(after !== undefined && { after }) });
  try {
    for await (const moment of inOrderOfArrival(events, chunks)) {
      yield* moment.kind === 'event' ? order.event(moment.event) : order.chunk(moment.chunk);
    }
    if (!signal.aborted) yield* order.remainingChunks();
  } finally {
    leave();
    options.signal?.removeEventListener('abort', leave);
    await Promise.all([events.return(), chunks.return()]);
  }
}

/** Ends with the events. */
async function* inOrderOfArrival(
  events: AsyncGenerator<RunEvent, void, undefined>,
  chunks: AsyncGenerator<StreamChunk, void, undefined>,
): AsyncGenerator<RunMoment, void, undefined> {
  const nextEvent = async (): Promise<RunMoment | 'events are over'> => {
    const { done, value } = await events.next();
    return done === true ? 'events are over' : { kind: 'event', event: value };
  };
  const nextChunk = async (): Promise<RunMoment> => {
    const { done, value } = await chunks.next();
    // No more tokens: the events say how it ends.
    return done === true ? new Promise(() => undefined) : { kind: 'chunk', chunk: value };
  };
  let event = nextEvent();
  let chunk = nextChunk();
  for (;;) {
    const first = await Promise.race([event, chunk]);
    if (first === 'events are over') return;
    yield first;
    if (first.kind === 'event') event = nextEvent();
    else chunk = nextChunk();
  }
}

interface Ordering {
  event(event: RunEvent): AsyncGenerator<RunMoment, void, undefined>;
  chunk(chunk: StreamChunk): AsyncGenerator<RunMoment, void, undefined>;
  remainingChunks(): AsyncGenerator<RunMoment, void, undefined>;
}

function ordering(
  run: Followed,
  from: { readonly since: number; readonly after?: string },
): Ordering {
  let nextSeq = from.since;
  let { after } = from;
  /** Events that were fetched because a chunk came after them; they come once more. */
  const ahead = new Map<number, string>();

  async function* eventsBefore(seq: number): AsyncGenerator<RunMoment, void, undefined> {
    if (seq <= nextSeq) return;
    for await (const event of run.events({ since: nextSeq, untilNow: true })) {
      if (event.stamp.seq < nextSeq) continue;
      ahead.set(event.stamp.seq, nameOf(event));
      nextSeq = event.stamp.seq + 1;
      yield { kind: 'event', event };
    }
  }

  function* passOn(chunk: StreamChunk): Generator<RunMoment, void, undefined> {
    if (!isNew(chunk, after)) return;
    after = chunk.cursor;
    yield { kind: 'chunk', chunk };
  }

  async function* remainingChunks(): AsyncGenerator<RunMoment, void, undefined> {
    const seen = after === undefined ? {} : { after };
    for await (const chunk of run.stream({ ...seen, untilNow: true })) yield* passOn(chunk);
  }

  return {
    remainingChunks,
    async *event(event) {
      const { seq } = event.stamp;
      const known = ahead.get(seq);
      ahead.delete(seq);
      if (known === nameOf(event)) return;
      // The message is in the store, and so is everything that was said on the way to it.
      if (event.type === 'model_response') yield* remainingChunks();
      nextSeq = seq + 1;
      yield { kind: 'event', event };
    },
    async *chunk(chunk) {
      if (!isNew(chunk, after)) return;
      if (chunk.kind === 'attempt_started') yield* eventsBefore(chunk.eventsBefore);
      yield* passOn(chunk);
    },
  };
}

function isNew(chunk: StreamChunk, after: string | undefined): boolean {
  const last = after === undefined ? STREAM_START : placeOf(after);
  const place = placeOf(chunk.cursor);
  return last === undefined || place === undefined || isBefore(last, place);
}

/** After a reset in Temporal another event may have the same number. */
function nameOf({ type, stamp }: RunEvent): string {
  return `${stamp.at} ${type}`;
}
