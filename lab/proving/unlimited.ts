/** A budget that stops no recorded conversation: what ends one is the recording. */
export const UNLIMITED = {
  maxTurns: 'unlimited',
  maxModelCalls: 'unlimited',
  maxToolCalls: 'unlimited',
  timeoutMs: 'unlimited',
  maxInputTokens: 'unlimited',
  maxOutputTokens: 'unlimited',
  maxCostMicroUsd: 'unlimited',
  maxConsecutiveToolFailures: 'unlimited',
  maxConsecutiveToolErrors: 'unlimited',
  maxDeniedProposals: 'unlimited',
  maxInvalidProposals: 'unlimited',
  maxRepeatedActions: 'unlimited',
} as const;
