/** How much a model may think, in the words of OpenAI (an effort) or of a gateway (a budget). */
import type { ModelRequest } from '../provider.js';
import type { JsonRecord } from '../json-record.js';

export type Effort = 'low' | 'medium' | 'high';

/** What the efforts stand for, in tokens of thinking. */
const MEDIUM_FROM_TOKENS = 4_096;
const HIGH_FROM_TOKENS = 16_384;
const BUDGET_TOKENS_MIN = 1_024;

/** The least effort is the least that every model with reasoning takes: it cannot be turned off for all. */
export function effortOf(thinking: NonNullable<ModelRequest['thinking']>): Effort {
  if (thinking.maxTokens >= HIGH_FROM_TOKENS) return 'high';
  return thinking.maxTokens >= MEDIUM_FROM_TOKENS ? 'medium' : 'low';
}

/** LiteLLM's parameter, which it passes on to vendors that have one; with a budget no temperature is sent. */
export function gatewaySampling(request: ModelRequest): JsonRecord {
  const { thinking, temperature, maxTokens } = request;
  const plain: JsonRecord = temperature === undefined ? {} : { temperature };
  if (thinking === undefined) return plain;
  const budget = Math.min(thinking.maxTokens, maxTokens - 1);
  if (thinking.adaptive && thinking.maxTokens > 0) return { thinking: { type: 'adaptive' } };
  if (budget < BUDGET_TOKENS_MIN) return { ...plain, thinking: { type: 'disabled' } };
  return { thinking: { type: 'enabled', budget_tokens: budget } };
}
