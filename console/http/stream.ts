/**
 * Server-sent events.
 * Invariants: one entry is taken when the one before it has been handed over, so a slow reader costs no
 * memory; a stream ends after a while and with the login of its reader, also when nothing happens, and tells
 * nothing after that: whoever wants more comes back with a login that is still good.
 */
import type { UnderlyingSource } from 'node:stream/web';
import type { EventStream, StreamEntry } from './endpoint.js';

const BEAT_MS = 15_000;
const STREAM_MS_MAX = 900_000;
const RETRY_MS = 1_000;

export interface StreamPlace {
  /** Ends the stream. */
  readonly signal: AbortSignal;
  /** Ends what the stream reads from. */
  stop(): void;
  /** What is left of the reader's login, in ms; absent: it does not end. */
  readonly loginMs?: number;
  release(): void;
  readonly say: (line: string) => void;
}

export function streamResponse(entries: EventStream, place: StreamPlace): Response {
  const iterator = entries[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array>(sourceOf(iterator, place), { highWaterMark: 1 });
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    },
  });
}

function sourceOf(
  iterator: AsyncIterator<StreamEntry>,
  { signal, stop, loginMs = STREAM_MS_MAX, release, say }: StreamPlace,
): UnderlyingSource<Uint8Array> {
  const encoder = new TextEncoder();
  let over = false;
  let beat: NodeJS.Timeout | undefined;
  let limit: NodeJS.Timeout | undefined;
  let closeBody = (): void => undefined;
  const end = (): void => {
    if (over) return;
    over = true;
    clearInterval(beat);
    clearTimeout(limit);
    signal.removeEventListener('abort', end);
    closeBody();
    release();
    stop();
    // It returns when it has heard of the end; nobody waits for that.
    iterator.return?.().catch(() => undefined);
  };
  return {
    start(controller) {
      closeBody = () => controller.close();
      controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`));
      beat = setInterval(() => {
        // Nothing new: proxies and the other side learn that we are still there.
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(': here\n\n'));
      }, BEAT_MS);
      limit = setTimeout(end, Math.max(0, Math.min(STREAM_MS_MAX, loginMs)));
      signal.addEventListener('abort', end);
      if (signal.aborted) end();
    },
    async pull(controller) {
      try {
        const next = await iterator.next();
        if (over) return;
        if (next.done === true) end();
        else controller.enqueue(encoder.encode(textOf(next.value)));
      } catch {
        if (over) return;
        say('An event stream broke off.');
        // The reader comes back with the last number that it has.
        end();
      }
    },
    cancel() {
      // The other side has closed it.
      closeBody = () => undefined;
      end();
    },
  };
}

function textOf({ id, event, data }: StreamEntry): string {
  const number = id === undefined ? '' : `id: ${id}\n`;
  // JSON has no line break outside its strings, and those are escaped.
  return `${number}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
