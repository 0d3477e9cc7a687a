/**
 * Chunks as server-sent events, as the AI SDK's clients read them.
 * Invariants: a chunk is made when the one before it has been taken, so a slow reader costs no memory; whatever ends the
 * stream frees its place and ends what it reads from.
 */
import type { UnderlyingSource } from 'node:stream/web';
import type { UiChunk } from './projection/index.js';

const BEAT_MS = 15_000;

export const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
  'x-vercel-ai-ui-message-stream': 'v1',
} as const;

/** Why a stream is cut whose reader has gone: no error, for servers print each on their standard error. */
export const LEFT = 'the reader has left';

export interface StreamOf {
  readonly chunks: AsyncGenerator<UiChunk, unknown, undefined>;
  /** Ends the stream, also when nobody takes its chunks: with an error, unless the reason is that its reader has left. */
  readonly cut: AbortSignal;
  /** Told of each chunk's length, in characters. */
  readonly count: (chars: number) => void;
  /** Called once, however the stream ends. */
  readonly release: () => void;
  /** Called for what nobody expected; the client hears that the stream broke off. */
  readonly failed: (error: unknown) => void;
}

export function streamResponse(stream: StreamOf): Response {
  const body = new ReadableStream<Uint8Array>(sourceOf(stream), { highWaterMark: 1 });
  return new Response(body, { headers: STREAM_HEADERS });
}

/** Of chunks that are all there. */
export function wholeResponse(status: number, chunks: readonly UiChunk[]): Response {
  return new Response(chunks.map(frameOf).join('') + DONE, { status, headers: STREAM_HEADERS });
}

const DONE = 'data: [DONE]\n\n';

const BROKEN: UiChunk = {
  type: 'error',
  errorText: 'The stream broke off. The run goes on; load the conversation again.',
};

function sourceOf(stream: StreamOf): UnderlyingSource<Uint8Array> {
  const { chunks, cut, count, release, failed } = stream;
  const encoder = new TextEncoder();
  let beat: NodeJS.Timeout | undefined;
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    clearInterval(beat);
    release();
    void chunks.return(undefined).catch(() => undefined);
  };
  return {
    start(controller) {
      beat = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(': here\n\n'));
      }, BEAT_MS);
      const cutOff = (): void => {
        if (isOver) return;
        end();
        if (cut.reason === LEFT) return controller.close();
        controller.error(new Error('The stream was not read up to its end in time.'));
      };
      cut.addEventListener('abort', cutOff, { once: true });
      if (cut.aborted) cutOff();
    },
    async pull(controller) {
      const send = (frame: string): void => controller.enqueue(encoder.encode(frame));
      try {
        const { done, value } = await chunks.next();
        if (isOver) return;
        if (done !== true) {
          const frame = frameOf(value);
          count(frame.length);
          send(frame);
          return;
        }
        send(DONE);
      } catch (error) {
        if (isOver) return;
        failed(error);
        send(frameOf(BROKEN));
        send(DONE);
      }
      end();
      controller.close();
    },
    // The other side has closed it.
    cancel: end,
  };
}

/** JSON has no line break outside its strings, and those are escaped. */
function frameOf(chunk: UiChunk): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
