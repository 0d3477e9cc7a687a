/**
 * Messages that the core decides on, before an activity writes them, and how large the conversation is with them.
 * Invariants:
 *  L1 Ids are `${runId}:m${n}` in order of appending.
 *  L2 Of the size there are two answers: the most tokens that it can have, at most one a byte, by which money is
 *     reserved, and the best estimate, by which compaction is decided (C21, G36). A bound is never an estimate.
 *  L3 Each call of a reply has its result in the conversation, those that were never made too.
 */
import type { StoredText } from '../json/json.js';
import type { Attachment, MediaCount } from '../state/attachment.js';
import type { ContextMeasure, ContextSize } from '../state/context-size.js';
import type { Reply, Usage } from '../state/model.js';
import { isOpen, type Run } from '../state/run.js';
import type { ResultItem, TranscriptItem } from '../state/transcript.js';
import { countMedia, mediaTokens, sumMedia } from './media.js';
import { currentRoute } from './route.js';

/** Bytes that a message costs besides its text: roles, ids, braces. */
const MESSAGE_OVERHEAD_BYTES = 64;

export function appendUser<R extends Run>(
  run: R,
  content: StoredText,
  options: {
    readonly synthetic?: boolean;
    readonly asSystem?: boolean;
    readonly attachments?: readonly Attachment[] | undefined;
  } = {},
): R {
  const { attachments } = options;
  const item: TranscriptItem = {
    kind: 'user',
    messageId: messageIdAt(run),
    content,
    ...(options.synthetic && { synthetic: true }),
    ...(options.asSystem && { asSystem: true }),
    ...(attachments !== undefined && { attachments }),
  };
  return append(run, item, {
    bytes: bytesOf(content),
    chars: charsOf(content),
    media: attachments && countMedia(attachments),
  });
}

export function appendResults<R extends Run>(
  run: R,
  results: readonly ResultItem[],
  surplus = 0,
): R {
  const item: TranscriptItem = { kind: 'results', messageId: messageIdAt(run), results };
  const more = surplusKept(surplus);
  const bytes = results.reduce(
    (sum, result) => sum + resultBytes(result),
    more * resultBytes(surplusResult('')),
  );
  const chars = results.reduce(
    (sum, result) => sum + resultChars(result),
    more * resultChars(surplusResult('')),
  );
  const attached = results.flatMap(({ attachments = [] }) => attachments);
  const media = attached.length === 0 ? undefined : countMedia(attached);
  return append(run, item, { bytes, chars, media });
}

/** Id that the next message of this run gets. */
export function messageIdAt(run: Run): string {
  return `${run.runId}:m${run.nextMessage}`;
}

function append<R extends Run>(run: R, item: TranscriptItem, { bytes, chars, media }: Appended): R {
  return {
    ...run,
    nextMessage: run.nextMessage + 1,
    pending: [...run.pending, item],
    context: withAppended(run.context, {
      bytes: bytes + MESSAGE_OVERHEAD_BYTES,
      chars: chars + MESSAGE_OVERHEAD_BYTES,
      media,
    }),
  };
}

/** Upper bound of the UTF-8 size: a UTF-16 unit takes at most three bytes. */
export function bytesOf(content: StoredText): number {
  return 'text' in content ? content.text.length * 3 : content.bytes;
}

function resultBytes(result: ResultItem): number {
  const shown = result.maxChars === undefined ? Number.POSITIVE_INFINITY : result.maxChars * 3;
  const words = (result.note ?? '').length + (result.evidence ?? '').length;
  return Math.min(bytesOf(result.content), shown) + words * 3 + MESSAGE_OVERHEAD_BYTES * 2;
}

function resultChars({ content, maxChars = Number.POSITIVE_INFINITY, evidence }: ResultItem) {
  return Math.min(charsOf(content), maxChars) + (evidence ?? '').length + MESSAGE_OVERHEAD_BYTES;
}

/** Tokens per 1,000 characters until a provider has counted some, and the range that a count may give. */
const RATE_AT_FIRST = 250;
const RATE_MIN = 100;
const RATE_MAX = 1_000;

export function contextAtFirst(bytes: number, media?: MediaCount): ContextSize {
  return {
    knownTokens: 0,
    newBytes: bytes,
    ...(media !== undefined && { media, newMedia: media }),
    measure: { tokens: 0, knownChars: 0, newChars: bytes, rate: RATE_AT_FIRST },
  };
}

export interface Appended {
  /** Most bytes. */
  readonly bytes: number;
  readonly chars: number;
  readonly media?: MediaCount | undefined;
}

export function withAppended(context: ContextSize, { bytes, chars, media }: Appended): ContextSize {
  const measure = measureOf(context);
  return {
    ...context,
    newBytes: context.newBytes + bytes,
    ...withBytes(context.bytes, bytes),
    ...(media !== undefined && {
      media: sumMedia(context.media, media),
      newMedia: sumMedia(context.newMedia, media),
    }),
    measure: { ...measure, newChars: measure.newChars + chars },
  };
}

export function inBytes(context: ContextSize): ContextSize {
  return context.bytes === undefined && context.knownTokens === 0
    ? { ...context, bytes: context.newBytes }
    : context;
}

function withBytes(before: number | undefined, more: number | undefined): { bytes?: number } {
  return before === undefined || more === undefined ? {} : { bytes: before + more };
}

/** What the provider counted up to and including its reply, which has so many bytes. */
export function contextAfterReply(context: ContextSize, reply: Reply, bytes?: number): ContextSize {
  const before = measureOf(context);
  const requestChars = before.knownChars + before.newChars;
  const tokens = reply.contextTokens ?? tokensOf(reply.usage);
  return {
    knownTokens: tokens,
    newBytes: 0,
    ...withBytes(context.bytes, bytes),
    ...(context.media !== undefined && { media: context.media }),
    measure: {
      tokens,
      knownChars: requestChars + replyChars(reply),
      newChars: 0,
      rate:
        (context.media === undefined
          ? rateOf(tokens - reply.usage.output, requestChars)
          : undefined) ?? before.rate,
    },
  };
}

export interface Summarised {
  /** Estimated tokens under the new head. */
  readonly tokens: number;
  /** Most tokens under the new head. */
  readonly bound: number;
  /** Bytes under the new head, where the run counts them. */
  readonly bytes?: number;
}

/** Nobody has counted the shorter conversation yet: its bound and its estimate differ until the next reply. */
export function contextAfterSummary(
  context: ContextSize,
  { tokens, bound, bytes }: Summarised,
): ContextSize {
  const { rate } = measureOf(context);
  const knownChars = Math.round((tokens * 1_000) / rate);
  const measure = { tokens, knownChars, newChars: 0, rate };
  return {
    knownTokens: bound,
    newBytes: 0,
    ...(bytes !== undefined && { bytes }),
    ...(context.media !== undefined && { media: context.media }),
    measure,
  };
}

/** Best estimate of the next request's prompt: what was counted, plus what came after (C21). */
export function contextTokens(run: Run): number {
  const { tokens, newChars, rate } = measureOf(run.context);
  const { newMedia } = run.context;
  const ofMedia = newMedia && isOpen(run) ? mediaTokens(newMedia, currentRoute(run)) : 0;
  return tokens + Math.ceil((newChars * rate) / 1_000) + ofMedia;
}

export function countedTokens(run: Run): number {
  return measureOf(run.context).tokens;
}

export function tokensOf({ input, cacheRead, cacheWrite, output }: Usage): number {
  return input + cacheRead + cacheWrite + output;
}

/** Characters of a text; a text in the store counts its bytes. */
export function charsOf(content: StoredText): number {
  return 'text' in content ? content.text.length : content.bytes;
}

function measureOf({ measure, knownTokens, newBytes }: ContextSize): ContextMeasure {
  return measure ?? { tokens: knownTokens, knownChars: 0, newChars: newBytes, rate: RATE_AT_FIRST };
}

function rateOf(tokens: number, chars: number): number | undefined {
  if (tokens <= 0 || chars <= 0) return undefined;
  return Math.min(RATE_MAX, Math.max(RATE_MIN, Math.round((tokens * 1_000) / chars)));
}

function replyChars({ text, calls }: Reply): number {
  const said = text === undefined ? 0 : charsOf(text);
  return calls.reduce((sum, { args }) => sum + JSON.stringify(args).length, said);
}

/** More calls of one reply than this are not made: all of them together fit one payload. */
export const CALLS_MAX = 48;
/** More than this are not even kept: the conversation is as if they had never been in it. */
export const CALLS_KEPT_MAX = 256;

const TOLD = `This call was not run: of one reply at most ${CALLS_MAX} calls are, and calls after the first ${CALLS_KEPT_MAX} are dropped. Make it again, with all others that are missing, in your next replies.`;

export function surplusResult(callId: string): ResultItem {
  return { callId, isError: true, code: 'not_executed', content: { text: TOLD } };
}

export function surplusKept(surplus: number): number {
  return Math.min(surplus, CALLS_KEPT_MAX - CALLS_MAX);
}

/** The results with one for each call that has none. */
export function resultsOfAll(
  calls: readonly { readonly id: string }[],
  results: readonly ResultItem[],
): readonly ResultItem[] {
  const given = new Set(results.map(({ callId }) => callId));
  const missing = calls.filter(({ id }) => !given.has(id));
  return [...results, ...missing.map(({ id }) => surplusResult(id))];
}
