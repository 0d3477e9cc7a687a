/** Sends a scripted reply, with its misbehaviour. Every wait ends when the client is gone. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Protocol } from './protocol.js';
import type { RenderContext } from './render.js';
import type { ScriptedFailure, ScriptedMessage, ScriptedReply } from './script.js';

const PING_MS = 50;
const STALL_MS_MAX = 10 * 60 * 1000;
const DELAY_MS_MAX = STALL_MS_MAX;
const EVENT_STREAM = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
};
const JSON_TYPE = { 'content-type': 'application/json' };

/** A context whose message is the reply to send, whatever its kind. */
export type SendContext = Omit<RenderContext, 'message'> & {
  readonly reply: ScriptedReply;
  readonly protocol: Protocol;
};

export async function sendReply(response: ServerResponse, context: SendContext): Promise<void> {
  const { reply, protocol, ...rest } = context;
  if ('delayMs' in reply && reply.delayMs !== undefined) await pause(response, reply.delayMs);
  if ('garbage' in reply) {
    sendWhole(
      response,
      { ...EVENT_STREAM, 'content-type': reply.contentType ?? EVENT_STREAM['content-type'] },
      reply.garbage,
    );
  } else if ('status' in reply) {
    sendFailure(response, reply, protocol);
  } else if (!context.request.stream) {
    if (reply.cutAfterBytes !== undefined || reply.cutAfterChunks !== undefined) response.destroy();
    else sendWhole(response, JSON_TYPE, protocol.whole({ ...rest, message: reply }));
  } else {
    const events = protocol.events({ ...rest, message: reply });
    await sendStream(response, { reply, events, protocol });
  }
}

export function sendFailure(
  response: ServerResponse,
  failure: ScriptedFailure,
  protocol: Protocol,
): void {
  const body = protocol.failure(failure);
  response.writeHead(failure.status, {
    ...JSON_TYPE,
    'content-length': Buffer.byteLength(body),
    ...(failure.retryAfterSeconds === undefined
      ? {}
      : { 'retry-after': String(failure.retryAfterSeconds) }),
    ...(failure.shouldRetry === undefined ? {} : { 'x-should-retry': String(failure.shouldRetry) }),
    ...failure.headers,
  });
  response.end(body);
}

/** One write: what benches measure is not the server. */
export function sendWhole(
  response: ServerResponse,
  headers: { readonly [name: string]: string },
  body: string,
): void {
  response.writeHead(200, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

interface Streaming {
  readonly reply: ScriptedMessage;
  readonly events: readonly string[];
  readonly protocol: Protocol;
}

async function sendStream(response: ServerResponse, streaming: Streaming): Promise<void> {
  const { reply, events } = streaming;
  const faults = [
    reply.cutAfterChunks,
    reply.endAfterChunks,
    reply.stallAfterChunks,
    reply.errorEventAfterChunks,
  ];
  const eventful = faults.some((fault) => fault !== undefined) || reply.cutAfterBytes !== undefined;
  if (!eventful && reply.chunks === undefined && reply.chunkDelayMs === undefined) {
    sendWhole(response, EVENT_STREAM, events.join(''));
    return;
  }
  response.writeHead(200, EVENT_STREAM);
  if (reply.cutAfterBytes !== undefined) {
    await cut(response, Buffer.from(events.join('')).subarray(0, reply.cutAfterBytes));
    return;
  }
  for (const [index, event] of events.entries()) {
    if (await misbehave(response, streaming, index)) return;
    if (response.destroyed) return;
    response.write(event);
    await (reply.chunkDelayMs === undefined ? nextTick() : pause(response, reply.chunkDelayMs));
  }
  if (!(await misbehave(response, streaming, events.length))) response.end();
}

/** Whether the reply ended here instead of going on. */
async function misbehave(
  response: ServerResponse,
  { reply, protocol }: Streaming,
  sent: number,
): Promise<boolean> {
  if (reply.errorEventAfterChunks === sent) {
    const type = reply.errorType ?? 'overloaded_error';
    response.end(protocol.errorEvent(type));
    return true;
  }
  if (reply.endAfterChunks === sent) {
    response.end();
    return true;
  }
  if (reply.cutAfterChunks === sent) {
    await cut(response, undefined);
    return true;
  }
  if (reply.stallAfterChunks !== sent) return false;
  await stall(response, reply.stallWith === 'pings' ? protocol.ping : undefined);
  return true;
}

async function cut(response: ServerResponse, bytes: Buffer | undefined): Promise<void> {
  response.flushHeaders();
  if (bytes !== undefined && bytes.length > 0) {
    await new Promise<void>((resolve) => void response.write(bytes, () => resolve()));
  }
  // A reset would take back what was written: the client must see the bytes, then the end.
  response.socket?.end();
  response.socket?.destroySoon();
}

async function stall(response: ServerResponse, ping: string | undefined): Promise<void> {
  if (ping === undefined) {
    await pause(response, STALL_MS_MAX);
  } else {
    for (let waited = 0; waited < STALL_MS_MAX && !response.destroyed; waited += PING_MS) {
      response.write(ping);
      await pause(response, PING_MS);
    }
  }
  response.destroy();
}

async function pause(response: ServerResponse, ms: number): Promise<void> {
  const gone = new AbortController();
  const onClose = (): void => gone.abort();
  response.once('close', onClose);
  await sleep(Math.min(ms, DELAY_MS_MAX), undefined, { signal: gone.signal }).catch(
    () => undefined,
  );
  response.off('close', onClose);
}

async function nextTick(): Promise<void> {
  await new Promise<void>((resolve) => void setImmediate(resolve));
}
