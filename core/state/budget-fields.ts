/**
 * Budgets and settings of a run with their defaults.
 * Invariants: an absent field means its default; 0 means "stop at once"; no limit must be written
 * 'unlimited' (G19). Money is integer micro-USD, time integer ms.
 */
export type Limit = number | 'unlimited';

export interface Budget {
  readonly maxTurns: Limit;
  readonly maxModelCalls: Limit;
  readonly maxToolCalls: Limit;
  readonly maxParallelToolCalls: number;
  /** Active time in ms; waiting for people does not count unless `timeoutCounts: 'wall'` (C38). */
  readonly timeoutMs: Limit;
  readonly maxInputTokens: Limit;
  readonly maxOutputTokens: Limit;
  readonly maxCostMicroUsd: Limit;
  readonly maxToolResultChars: number;
  readonly maxRetriesPerModelCall: number;
  /** Of them those that follow a server error (C27). */
  readonly maxServerErrorRetries: number;
  readonly maxRetriesPerToolCall: number;
  readonly maxTokensPerResponse: number;
  readonly maxOutputRecoveries: number;
  readonly maxConsecutiveToolFailures: Limit;
  readonly maxConsecutiveToolErrors: Limit;
  readonly maxDeniedProposals: Limit;
  readonly maxInvalidProposals: Limit;
  readonly maxRepeatedActions: Limit;
  readonly emptyResponseRetries: number;
  /** 'unlimited': the model's own default. */
  readonly maxThinkingTokens: Limit;
  /** Per session (C20). */
  readonly maxReactiveCompactions: number;
  readonly maxStopHookReentries: number;
  readonly maxOutputSchemaRetries: number;
  /** Share of the context window from which the conversation is summarised, 0 to 1. */
  readonly compactionThreshold: number;
}

export const DEFAULT_BUDGET: Budget = {
  maxTurns: 20,
  maxModelCalls: 'unlimited',
  maxToolCalls: 50,
  maxParallelToolCalls: 4,
  timeoutMs: 1_800_000,
  maxInputTokens: 2_000_000,
  maxOutputTokens: 200_000,
  maxCostMicroUsd: 5_000_000,
  maxToolResultChars: 30_000,
  maxRetriesPerModelCall: 6,
  maxServerErrorRetries: 3,
  maxRetriesPerToolCall: 1,
  maxTokensPerResponse: 16_384,
  maxOutputRecoveries: 3,
  maxConsecutiveToolFailures: 2,
  maxConsecutiveToolErrors: 5,
  maxDeniedProposals: 3,
  maxInvalidProposals: 3,
  maxRepeatedActions: 3,
  emptyResponseRetries: 1,
  maxThinkingTokens: 'unlimited',
  maxReactiveCompactions: 1,
  maxStopHookReentries: 3,
  maxOutputSchemaRetries: 2,
  compactionThreshold: 0.8,
};
