/** Settings of a run (conflicts.md, gaps.md) with their defaults, frozen at its start. */
export interface Settings {
  readonly onDeny: 'observe' | 'refuse';
  readonly onInvalid: 'observe' | 'refuse';
  readonly onToolFailure: {
    readonly mode: 'observe' | 'stop';
    readonly threshold: number;
    readonly outcome: 'needs_human' | 'tool_failure';
  };
  readonly toolExecution: 'serial';
  readonly turnCounting: 'round_trips' | 'logical';
  readonly timeoutCounts: 'active' | 'wall';
  readonly budgetOverrunPolicy: 'complete' | 'stop';
  readonly afterAnswer: 'complete' | 'await_user';
  readonly onOutcomeUnknown: 'ask' | 'observe' | 'stop';
  readonly onApprovalTimeout: 'reject' | 'stop';
  readonly approvalTimeoutMs: number;
  readonly inputTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly propagateCancellation: boolean;
  /** Decisions must carry a valid signature (design §9). Not available before the approval desk exists. */
  readonly requireProof: false;
  /** Least output tokens that make a model call worth starting (design §10). */
  readonly minOutputTokens: number;
  /** How soon a dead worker is noticed, in ms (design §6). */
  readonly heartbeatMs: { readonly repeatable: number; readonly single: number };
  /** Limit of one model call with all its attempts, in ms. */
  readonly modelTimeoutMs: number;
  /** Temperature sent to models that accept one. */
  readonly temperature: number;
}

const DAY_MS = 86_400_000;

export const DEFAULT_SETTINGS: Settings = {
  onDeny: 'observe',
  onInvalid: 'observe',
  onToolFailure: { mode: 'observe', threshold: 1, outcome: 'needs_human' },
  toolExecution: 'serial',
  turnCounting: 'round_trips',
  timeoutCounts: 'active',
  budgetOverrunPolicy: 'complete',
  afterAnswer: 'complete',
  onOutcomeUnknown: 'ask',
  onApprovalTimeout: 'stop',
  approvalTimeoutMs: 7 * DAY_MS,
  inputTimeoutMs: 7 * DAY_MS,
  idleTimeoutMs: 30 * DAY_MS,
  propagateCancellation: false,
  requireProof: false,
  minOutputTokens: 1,
  heartbeatMs: { repeatable: 10_000, single: 60_000 },
  modelTimeoutMs: 600_000,
  temperature: 1,
};
