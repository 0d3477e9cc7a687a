/**
 * A target of output tokens: an answer that comes well before it is sent back to work (C23, C24).
 * Invariant: it never makes a run spend more than its hard budgets allow.
 */
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
