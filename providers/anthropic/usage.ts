/**
 * What Anthropic's API reports of tokens.
 * Invariants: numbers in a stream are cumulative, so the larger one is the newer and never in the vendor's
 * disfavour, unless the vendor lists every round, which makes the newest report the whole truth; what is no
 * count of tokens is none.
 */
import { addUsage } from '../../core/money/budget.js';
import { NO_USAGE, type Usage } from '../../core/state/model.js';
import { isRecord, listAt, textAt, tokensAt, type JsonRecord } from '../json-record.js';

export interface Report {
  /** Of all rounds that wrote the reply. */
  readonly usage: Usage;
  /** Of summaries that the vendor made of the conversation: billed, and no part of `usage`. */
  readonly summaries: Usage;
  /** What the conversation takes with the reply, where that is not simply the sum of `usage`. */
  readonly contextTokens?: number;
}

export const NO_REPORT: Report = { usage: NO_USAGE, summaries: NO_USAGE };

/** Rounds that write a reply. An advisor's are billed as another model's, by the fee of the tool. */
const ROUNDS: readonly string[] = ['message', 'fallback_message'];

export function withReport(before: Report, reported: unknown): Report {
  if (!isRecord(reported)) return before;
  const iterations = listAt(reported, 'iterations').filter(isRecord);
  if (iterations.length === 0) {
    return { ...before, usage: larger(before.usage, usageIn(reported)) };
  }
  const summaries = iterations.filter((each) => textAt(each, 'type') === 'compaction');
  const newest = iterations.findLast((each) => ROUNDS.includes(textAt(each, 'type')));
  const contextTokens = newest === undefined ? 0 : sumOf(usageIn(newest));
  return {
    usage: newer(before.usage, reported),
    summaries: summaries.map(usageIn).reduce(addUsage, NO_USAGE),
    ...(iterations.length > 1 && contextTokens > 0 && { contextTokens }),
  };
}

/** Everything that is billed by the price of the model. */
export function billedUsage({ usage, summaries }: Report): Usage {
  return addUsage(usage, summaries);
}

function usageIn(reported: JsonRecord): Usage {
  return {
    input: tokensAt(reported, 'input_tokens'),
    output: tokensAt(reported, 'output_tokens'),
    cacheRead: tokensAt(reported, 'cache_read_input_tokens'),
    cacheWrite: tokensAt(reported, 'cache_creation_input_tokens'),
  };
}

/** The start of a stream may count what belongs to a summary. */
function newer(before: Usage, reported: JsonRecord): Usage {
  const now = usageIn(reported);
  const said = (key: string): boolean => typeof reported[key] === 'number';
  return {
    input: said('input_tokens') ? now.input : before.input,
    output: said('output_tokens') ? now.output : before.output,
    cacheRead: said('cache_read_input_tokens') ? now.cacheRead : before.cacheRead,
    cacheWrite: said('cache_creation_input_tokens') ? now.cacheWrite : before.cacheWrite,
  };
}

function larger(a: Usage, b: Usage): Usage {
  return {
    input: Math.max(a.input, b.input),
    output: Math.max(a.output, b.output),
    cacheRead: Math.max(a.cacheRead, b.cacheRead),
    cacheWrite: Math.max(a.cacheWrite, b.cacheWrite),
  };
}

export function sumOf({ input, output, cacheRead, cacheWrite }: Usage): number {
  return input + output + cacheRead + cacheWrite;
}
