/**
 * One attempt of a streamed request, whoever the vendor is: sends, reads events until the message is
 * complete, watches for stalls.
 * Invariants: exactly one request leaves; `performAttempt` returns only with a complete message, or after
 * the caller aborted; everything else it throws is a HoldfastError with a model code.
 */
import type { Json } from '../core/json/json.js';
import { NO_USAGE, type Usage } from '../core/state/model.js';
import { attemptFailure, type ReadAnswer, type ReceivedPart } from './attempt-failure.js';
import type { ReadDeltas } from './deltas.js';
import { isRecord, type JsonRecord } from './json-record.js';
import {
  estimateTokens,
  type ModelProgress,
  type ModelReply,
  type ModelRequest,
  type UsageSource,
} from './provider.js';
import { createSseParser, type SseEvent } from './sse.js';
import { startStallWatch, type StallLimits, type StallWatch } from './stall-watch.js';
import { BadStream, CutStream, StalledStream, StreamError } from './stream-errors.js';

/** A message in the making, as its vendor puts it together. */
export interface IncomingMessage {
  /** Takes one event; whether it brought content (a keep-alive does not). */
  accept(event: SseEvent): boolean;
  /** Nothing that could change the message can follow. */
  complete(): boolean;
  /** The stream has ended where it may: whether the message is complete by that. */
  completeAtEnd?(): boolean;
  /** Takes a message that came whole although a stream was asked for; whether it is one. */
  acceptWhole?(body: JsonRecord): boolean;
  received(): ReceivedPart;
  /** What an accepted event adds, for whoever reads along. */
  readonly deltas: ReadDeltas;
}

export interface Attempt {
  readonly limits: StallLimits;
  readonly progress: ModelProgress;
  readonly send: (signal: AbortSignal) => Promise<Response>;
  readonly message: IncomingMessage;
  readonly requestIdHeader: string;
  readonly readAnswer: ReadAnswer;
}

export const DEFAULT_STALL_LIMITS: StallLimits = { stallMs: 120_000, quietMs: 600_000 };
/** A token per event, with its envelope, at the largest output of any model stays well below. */
const REPLY_BYTES_MAX = 64 * 1024 * 1024;
const WHOLE_REPLY_CHARS_MAX = 16 * 1024 * 1024;
const DRAIN_MS = 1000;

/** The limits of a provider: what its settings say, else the defaults. */
export function stallLimitsOf(settings: Partial<StallLimits>): StallLimits {
  const { stallMs = DEFAULT_STALL_LIMITS.stallMs } = settings;
  return { stallMs, quietMs: settings.quietMs ?? Math.max(DEFAULT_STALL_LIMITS.quietMs, stallMs) };
}

export async function performAttempt(attempt: Attempt): Promise<void> {
  const { limits, progress, message, readAnswer } = attempt;
  const watch = startStallWatch(limits, progress.signal);
  let requestId: string | undefined;
  try {
    const response = await attempt.send(watch.signal);
    requestId = response.headers.get(attempt.requestIdHeader) ?? undefined;
    await readReply(response, { message, watch, progress });
  } catch (error) {
    const received = message.received();
    const facts = { received, readAnswer, ...(requestId === undefined ? {} : { requestId }) };
    const stalled = watch.stalled();
    if (stalled !== undefined) {
      throw attemptFailure(new StalledStream(`The model API stalled: ${stalled}.`), facts);
    }
    if (!progress.signal.aborted) throw attemptFailure(error, facts);
  } finally {
    watch.stop();
  }
}

interface Reading {
  readonly message: IncomingMessage;
  readonly watch: StallWatch;
  readonly progress: ModelProgress;
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

async function readReply(response: Response, reading: Reading): Promise<void> {
  const { message } = reading;
  if (response.body === null) throw new BadStream('a reply without a body');
  const reader: Reader = response.body.getReader();
  if (!isEventStream(response)) return takeWhole(reader, reading);
  const parser = createSseParser(REPLY_BYTES_MAX);
  let ended = false;
  while (!ended && !message.complete()) {
    const value = await nextChunk(reader, reading);
    ended = value === undefined;
    takeEvents(value === undefined ? parser.end() : parser.push(value), reading, ended);
  }
  if (!message.complete() && message.completeAtEnd?.() !== true) {
    throw new CutStream('The stream of the model ended before its message did.');
  }
  // Read to the end, so that the connection can be used again; the reply does not wait for that.
  void drain(reader);
}

async function nextChunk(reader: Reader, reading: Reading): Promise<Uint8Array | undefined> {
  const { done, value } = await reader.read();
  if (value !== undefined) {
    reading.watch.sawBytes();
    reading.progress.onProgress();
  }
  return done ? undefined : value;
}

function takeEvents(events: readonly SseEvent[], reading: Reading, ended: boolean): void {
  const { message, watch } = reading;
  for (const event of events) {
    try {
      if (!message.accept(event)) continue;
      watch.sawContent();
      tellDeltas(event, reading);
    } catch (error) {
      // The last event of a stream that was cut has lost its end: that is a cut, not a malformed reply.
      if (ended && error instanceof BadStream) return;
      throw error;
    }
  }
}

function tellDeltas(event: SseEvent, { message, progress }: Reading): void {
  if (progress.onDelta === undefined) return;
  for (const delta of message.deltas(event)) progress.onDelta(delta);
}

function isEventStream(response: Response): boolean {
  return (response.headers.get('content-type') ?? '').includes('event-stream');
}

/** A gateway may answer 200 with the whole message, with an error as JSON, or with anything. */
async function takeWhole(reader: Reader, reading: Reading): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const value = await nextChunk(reader, reading);
    if (value === undefined) break;
    text += decoder.decode(value, { stream: true });
    if (text.length > WHOLE_REPLY_CHARS_MAX) {
      void reader.cancel().catch(() => undefined);
      throw new BadStream('it is too large and no event stream');
    }
  }
  const body = parsed(text + decoder.decode());
  if (isRecord(body) && (body['type'] === 'error' || isRecord(body['error']))) {
    throw new StreamError(body);
  }
  if (isRecord(body) && reading.message.acceptWhole?.(body) === true) return;
  throw new BadStream('it is not an event stream');
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // Not JSON: what it says does not matter.
    return null;
  }
}

async function drain(reader: Reader): Promise<void> {
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

/** What an assembly knows of its usage. */
export interface CountedMessage {
  readonly usage: Usage;
  /** The vendor's final usage has arrived. */
  readonly usageFinal: boolean;
  readonly outputBytes: number;
}

export function receivedOutput({ usage, outputBytes }: CountedMessage): number {
  return Math.max(usage.output, estimateTokens(outputBytes));
}

/** The usage of a reply, and how far it can be trusted. */
export function usageOfReply(
  message: CountedMessage,
  complete: boolean,
): { readonly usage: Usage; readonly usageSource: UsageSource } {
  const { usage, usageFinal } = message;
  if (complete && usageFinal) return { usage, usageSource: 'reported' };
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    usage: { ...usage, output: receivedOutput(message) },
    usageSource: input > 0 ? 'estimated' : 'absent',
  };
}

/** The reply of a request that was given up before it left. */
export function unsentReply(request: ModelRequest): ModelReply {
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
