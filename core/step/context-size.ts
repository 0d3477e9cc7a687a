/**
 * How large the conversation is. Two answers: the most tokens it can have, which is what money is reserved
 * by (design §10), and the best estimate, which is what compaction is decided by (C21, G36).
 * Invariants: a bound is never an estimate; estimates are pure arithmetic over characters, calibrated by
 * what the provider counted last.
 */
import type { StoredText } from '../json/json.js';
import type { Reply, Usage } from '../state/model.js';
import type { Run } from '../state/run.js';
import type { ContextMeasure, ContextSize } from '../state/context-size.js';

/** Tokens per 1,000 characters until a provider has counted some, and the range that a count may give. */
const RATE_AT_FIRST = 250;
const RATE_MIN = 100;
const RATE_MAX = 1_000;

/** Before the first reply: nothing is counted yet. */
export function contextAtFirst(bytes: number): ContextSize {
  return {
    knownTokens: 0,
    newBytes: bytes,
    measure: { tokens: 0, knownChars: 0, newChars: bytes, rate: RATE_AT_FIRST },
  };
}

export interface Appended {
  /** Most bytes. */
  readonly bytes: number;
  readonly chars: number;
}

export function withAppended(context: ContextSize, { bytes, chars }: Appended): ContextSize {
  const measure = measureOf(context);
  return {
    ...context,
    newBytes: context.newBytes + bytes,
    measure: { ...measure, newChars: measure.newChars + chars },
  };
}

/** What the provider counted up to and including its reply. */
export function contextAfterReply(context: ContextSize, reply: Reply): ContextSize {
  const before = measureOf(context);
  const requestChars = before.knownChars + before.newChars;
  const tokens = reply.contextTokens ?? tokensOf(reply.usage);
  return {
    knownTokens: tokens,
    newBytes: 0,
    measure: {
      tokens,
      knownChars: requestChars + replyChars(reply),
      newChars: 0,
      rate: rateOf(tokens - reply.usage.output, requestChars) ?? before.rate,
    },
  };
}

export interface Summarised {
  /** Estimated tokens under the new head. */
  readonly tokens: number;
  /** Most tokens under the new head. */
  readonly bound: number;
}

/** Nobody has counted the shorter conversation yet: its bound and its estimate differ until the next reply. */
export function contextAfterSummary(
  context: ContextSize,
  { tokens, bound }: Summarised,
): ContextSize {
  const { rate } = measureOf(context);
  const knownChars = Math.round((tokens * 1_000) / rate);
  return { knownTokens: bound, newBytes: 0, measure: { tokens, knownChars, newChars: 0, rate } };
}

/** Best estimate of the next request's prompt: what was counted, plus what came after (C21). */
export function contextTokens(run: Run): number {
  const { tokens, newChars, rate } = measureOf(run.context);
  return tokens + Math.ceil((newChars * rate) / 1_000);
}

/** Without what came after the newest reply or summary. */
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
