/** A target of output tokens, and how the answers have come along (C23, C24). */

export interface TokenBudget {
  readonly targetOutputTokens: number;
  /** Share of the target from which an answer is let through. */
  readonly completionThreshold: number;
  /** A continuation with fewer new output tokens than this is a small one. */
  readonly smallDeltaTokens: number;
  /** Continuations before diminishing returns can end it. */
  readonly minContinuations: number;
  /** So many small continuations in a row are diminishing returns. */
  readonly consecutiveSmallDeltas: number;
}

export const DEFAULT_TOKEN_BUDGET: Omit<TokenBudget, 'targetOutputTokens'> = {
  completionThreshold: 0.9,
  smallDeltaTokens: 500,
  minContinuations: 3,
  consecutiveSmallDeltas: 2,
};

/** How the answers to one question have come along. */
export interface TokenTracker {
  readonly continuations: number;
  /** Small deltas in a row, up to the newest continuation. */
  readonly smallDeltas: number;
  /** Output tokens of the run's replies at the newest continuation. */
  readonly outputTokens: number;
  /** The same when the question was asked. */
  readonly startTokens: number;
}
