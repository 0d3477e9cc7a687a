/**
 * How much a model may think, in the words of Anthropic's API (G49).
 * Invariants: a budget is sent only where the API takes it: at least its minimum, below max_tokens, and not in
 * the middle of a tool loop that began without thinking; with thinking no temperature is sent.
 */
import type { Json } from '../../core/json/json.js';
import type { ModelRequest } from '../provider.js';

type JsonObject = { readonly [key: string]: Json };

const BUDGET_TOKENS_MIN = 1_024;
const DISABLED: JsonObject = { thinking: { type: 'disabled' } };

/** The parameters `thinking` and `temperature`; `newest` is the content of the newest assistant message. */
export function samplingParams(request: ModelRequest, newest: readonly JsonObject[]): JsonObject {
  const { thinking, temperature, maxTokens } = request;
  const plain: JsonObject = temperature === undefined ? {} : { temperature };
  if (thinking === undefined) return plain;
  if (thinking.maxTokens === 0) return { ...plain, ...DISABLED };
  // Such a model weighs by itself; what it may spend is bounded by max_tokens alone.
  if (thinking.adaptive) return { thinking: { type: 'adaptive' } };
  const budget = Math.min(thinking.maxTokens, maxTokens - 1);
  return budget < BUDGET_TOKENS_MIN || startsWithoutThinking(newest)
    ? { ...plain, ...DISABLED }
    : { thinking: { type: 'enabled', budget_tokens: budget } };
}

/** A tool loop that was begun without thinking, or by another model, must be ended without it. */
function startsWithoutThinking(newest: readonly JsonObject[]): boolean {
  const callsTools = newest.some((block) => block['type'] === 'tool_use');
  const first = newest[0]?.['type'];
  return callsTools && first !== 'thinking' && first !== 'redacted_thinking';
}
