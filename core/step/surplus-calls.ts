/**
 * Calls of a reply beyond those that run: how many are kept, and the result that each of them gets.
 * Invariant: every call that is kept in the conversation has exactly one result.
 */
import type { ResultItem } from '../state/transcript.js';

/** More calls of one reply than this are not made: all of them together fit one payload. */
export const CALLS_MAX = 48;
/** More than this are not even kept: the conversation is as if they had never been in it. */
export const CALLS_KEPT_MAX = 256;

const TOLD = `This call was not run: of one reply at most ${CALLS_MAX} calls are, and calls after the first ${CALLS_KEPT_MAX} are dropped. Make it again, with all others that are missing, in your next replies.`;

export function surplusResult(callId: string): ResultItem {
  return { callId, isError: true, code: 'not_executed', content: { text: TOLD } };
}

/** How many results are added for so many surplus calls. */
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
