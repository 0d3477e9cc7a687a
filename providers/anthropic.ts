/**
 * Anthropic's Messages API through its SDK: the SDK sends and authenticates, the stream is read here.
 * Invariants: one attempt per call, always streamed; a reply is returned only after message_stop, or as
 * `partial` after the caller aborted.
 */
import Anthropic from '@anthropic-ai/sdk';
import { NO_USAGE } from '../core/model.js';
import {
  BadStream,
  StreamError,
  acceptEvent,
  isRecord,
  newAssembly,
} from './anthropic/assembly.js';
import type { Assembly } from './anthropic/assembly.js';
import { CutStream, StalledStream, attemptFailure } from './anthropic/failure.js';
import { replyOf } from './anthropic/reply.js';
import { anthropicBody, usedCallIds } from './anthropic/request.js';
import type { ModelProgress, ModelReply, ModelRequest, Provider } from './provider.js';
import { withoutSecret } from './secret.js';
import { createSseParser } from './sse.js';
import type { SseEvent } from './sse.js';
import { startStallWatch } from './stall-watch.js';
import type { StallLimits, StallWatch } from './stall-watch.js';

export interface AnthropicSettings {
  readonly apiKey: string;
  readonly baseUrl?: string;
  /** Longest time without a byte, from the sending of the request on. */
  readonly stallMs?: number;
  /** Longest time with keep-alives only: a model that thinks sends nothing else. */
  readonly quietMs?: number;
  /** What sends the requests; default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

const BASE_URL = 'https://api.anthropic.com';
const DEFAULT_LIMITS: StallLimits = { stallMs: 120_000, quietMs: 600_000 };
/** A token per event, with its envelope, at the largest output of any model stays well below. */
const REPLY_BYTES_MAX = 64 * 1024 * 1024;
const ERROR_BODY_CHARS_MAX = 64 * 1024;
const DRAIN_MS = 1000;

/** A provider for Anthropic's API, or for anything that speaks its protocol at `baseUrl`. */
export function createAnthropicProvider(settings: AnthropicSettings): Provider {
  const client = new Anthropic({
    apiKey: settings.apiKey,
    // Both are named so that the SDK does not look for them in the environment.
    authToken: null,
    baseURL: settings.baseUrl ?? BASE_URL,
    maxRetries: 0,
    logLevel: 'off',
    openTelemetry: false,
    ...(settings.fetch !== undefined && { fetch: settings.fetch }),
  });
  const limits: StallLimits = {
    stallMs: settings.stallMs ?? DEFAULT_LIMITS.stallMs,
    quietMs: settings.quietMs ?? Math.max(DEFAULT_LIMITS.quietMs, settings.stallMs ?? 0),
  };
  return {
    name: 'anthropic',
    complete: (request, progress) =>
      withoutSecret(settings.apiKey, () => complete({ client, limits }, request, progress)),
  };
}

interface Connection {
  readonly client: Anthropic;
  readonly limits: StallLimits;
}

async function complete(
  { client, limits }: Connection,
  request: ModelRequest,
  progress: ModelProgress,
): Promise<ModelReply> {
  const body = anthropicBody(request);
  if (progress.signal.aborted) return unsentReply(request);
  const assembly = newAssembly();
  const watch = startStallWatch(limits, progress.signal);
  let requestId: string | undefined;
  try {
    const options = { body, stream: true, signal: watch.signal, timeout: limits.quietMs };
    const response = await client.post('/v1/messages', options).asResponse();
    requestId = response.headers.get('request-id') ?? undefined;
    await readReply(response, { assembly, watch, progress });
  } catch (error) {
    const stalled = watch.stalled();
    const facts = { assembly, ...(requestId === undefined ? {} : { requestId }) };
    if (stalled !== undefined) {
      throw attemptFailure(new StalledStream(`The model API stalled: ${stalled}.`), facts);
    }
    if (!progress.signal.aborted) throw attemptFailure(error, facts);
  } finally {
    watch.stop();
  }
  const { model, messages, metadata } = request;
  return replyOf(assembly, { model, usedIds: usedCallIds(messages), call: metadata?.call ?? 0 });
}

interface Reading {
  readonly assembly: Assembly;
  readonly watch: StallWatch;
  readonly progress: ModelProgress;
}

async function readReply(response: Response, reading: Reading): Promise<void> {
  const { assembly, watch, progress } = reading;
  if (response.body === null) throw new BadStream('a reply without a body');
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  if (!isEventStream(response)) throw await wrongContent(reader);
  const parser = createSseParser(REPLY_BYTES_MAX);
  for (let ended = false; !ended && !assembly.stopped;) {
    const { done, value } = await reader.read();
    ended = done;
    if (value !== undefined) {
      watch.sawBytes();
      progress.onProgress();
    }
    const events = value === undefined ? parser.end() : parser.push(value);
    takeEvents(events, reading, ended);
  }
  if (!assembly.stopped)
    throw new CutStream('The stream of the model ended before its message did.');
  // Read to the end, so that the connection can be used again; the reply does not wait for that.
  void drain(reader);
}

function takeEvents(events: readonly SseEvent[], reading: Reading, ended: boolean): void {
  const { assembly, watch } = reading;
  for (const event of events) {
    try {
      if (acceptEvent(assembly, event)) watch.sawContent();
    } catch (error) {
      // The last event of a stream that was cut has lost its end: that is a cut, not a malformed reply.
      if (ended && error instanceof BadStream) return;
      throw error;
    }
  }
}

function isEventStream(response: Response): boolean {
  return (response.headers.get('content-type') ?? '').includes('event-stream');
}

/** A gateway may answer 200 with an error as JSON, or with anything. */
async function wrongContent(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Error> {
  const decoder = new TextDecoder();
  let text = '';
  while (text.length < ERROR_BODY_CHARS_MAX) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  void reader.cancel().catch(() => undefined);
  try {
    const body: unknown = JSON.parse(text);
    if (isRecord(body) && body['type'] === 'error') return new StreamError(body);
  } catch {
    // Not JSON: what it says does not matter.
  }
  return new BadStream('it is not an event stream');
}

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  const timer = setTimeout(cancel, DRAIN_MS).unref();
  try {
    for (let done = false; !done;) ({ done } = await reader.read());
  } catch {
    // The message was complete: how its connection ends is of no interest.
  } finally {
    clearTimeout(timer);
  }
}

function unsentReply(request: ModelRequest): ModelReply {
  return {
    blocks: [],
    raw: [],
    stop: 'unknown',
    stopDetail: 'aborted',
    usage: NO_USAGE,
    usageSource: 'unsent',
    model: request.model,
    partial: true,
    incompleteCalls: 0,
  };
}
