/**
 * What a question of a goal to a judge or reviewer may cost.
 * Invariant: no token has less than a byte, and whoever asks keeps the question within `inputTokens` bytes.
 */
import type { AttemptBound } from '../state/model.js';
import type { JudgeTerm } from '../state/goal/terms.js';
import { boundMicroUsd, inputPrice } from './budget.js';

/** Longest question, in bytes; what does not fit is left out of it, older evidence first. */
export const QUESTION_BYTES_MAX = 64 * 1024;
/** Below this nothing of use can be asked. */
export const QUESTION_BYTES_MIN = 4 * 1024;

const TOKENS_PER_PRICE = 1_000_000;

type QuestionModel = Pick<JudgeTerm, 'route' | 'maxTokens'>;

/** The bound of one question of at most so many bytes. */
export function boundOfQuestion({ route, maxTokens }: QuestionModel, bytes: number): AttemptBound {
  return { inputTokens: bytes, costMicroUsd: boundMicroUsd(bytes, maxTokens, route.prices) };
}

/** The largest question that `microUsd` pay for; undefined: they pay for none. */
export function questionWithin(term: QuestionModel, microUsd: number): AttemptBound | undefined {
  const { route, maxTokens } = term;
  const forInput = microUsd * TOKENS_PER_PRICE - maxTokens * route.prices.output;
  const price = inputPrice(route.prices);
  const paid = price === 0 ? QUESTION_BYTES_MAX : Math.floor(forInput / price);
  const window = route.contextWindow - maxTokens;
  const bytes = Math.min(QUESTION_BYTES_MAX, window, paid);
  return forInput < 0 || bytes < QUESTION_BYTES_MIN ? undefined : boundOfQuestion(term, bytes);
}
