/** Settings of a run with their defaults, frozen at its start. */
import type { TokenBudget } from './token-budget.js';
import type { PermissionMode } from './permission-mode.js';

/** What people call the parts that a run is made of (G60). */
export const VERSIONED = ['prompt', 'tools', 'policy', 'modelRoute', 'pricing', 'code'] as const;
export type VersionNames = { readonly [part in (typeof VERSIONED)[number]]?: string };

export interface Settings {
  readonly onDeny: 'observe' | 'refuse';
  readonly onInvalid: 'observe' | 'refuse';
  readonly onToolFailure: {
    readonly mode: 'observe' | 'stop';
    readonly threshold: number;
    readonly outcome: 'needs_human' | 'tool_failure';
  };
  readonly toolExecution: 'serial' | 'batched' | 'dataflow';
  /** A needed approval: wait for it, or end at once with `needs_human` (C15). */
  readonly approvalMode: 'wait' | 'stop';
  readonly permissionMode: PermissionMode;
  /** Unlocks the mode `bypassPermissions`, at the start or later (G16). */
  readonly allowBypassPermissions: boolean;
  /** An approval may cover later calls as well, as far as its matcher says (G13). */
  readonly allowStandingGrants: boolean;
  /** Allowed without asking; hides nothing (C48). */
  readonly allowedTools: readonly string[];
  /** Hidden, and refused when proposed anyway (C48). */
  readonly disallowedTools: readonly string[];
  readonly maxTokensStrategy: 'auto' | 'compact_first' | 'continue_only' | 'stop';
  /** Asks for the rest of a reply that was cut off (C45). */
  readonly continuationPrompt: string;
  /** Who says the continuation prompt, where the provider lets a system message come later (C45). */
  readonly continuationRole: 'user' | 'system';
  readonly compactionMetric: 'context' | 'cumulative';
  /** Share of the context that a proactive compaction must free to count as one (C20). */
  readonly minCompactionGain: number;
  readonly minTurnsBetweenCompactions: number;
  /** One last model call without tools when a budget ends the run (C42). */
  readonly wrapUpTurn: boolean;
  readonly onBudget: 'stop' | 'ask';
  /** Who may allow more of a budget; none: anybody but the caller. Not for a start to say. */
  readonly budgetRoles: readonly string[];
  /** A target of output tokens that makes the model go on (C23); null: none. */
  readonly tokenBudget: TokenBudget | null;
  /** Model that takes over when the route's own is exhausted (G32); null: none. */
  readonly fallbackModel: string | null;
  readonly fallbackSticky: 'turn' | 'session';
  readonly interruptMode: 'stop' | 'pause';
  readonly turnCounting: 'round_trips' | 'logical';
  readonly timeoutCounts: 'active' | 'wall';
  readonly budgetOverrunPolicy: 'complete' | 'stop';
  readonly afterAnswer: 'complete' | 'await_user';
  readonly onOutcomeUnknown: 'ask' | 'observe' | 'stop';
  readonly onApprovalTimeout: 'reject' | 'stop';
  readonly approvalTimeoutMs: number;
  readonly inputTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** How long the run waits in a row for a worker with the code that it needs (G118). */
  readonly unservedTimeoutMs: number;
  readonly propagateCancellation: boolean;
  /** The conversation is stored when the run ends; null: when the start names a session. */
  readonly persistSession: boolean | null;
  /** The model is told the folder that the start names as the caller's (`cwd`). */
  readonly showCwd: boolean;
  /** What models say is streamed piece by piece to whoever reads it. */
  readonly includePartialMessages: boolean;
  /** How long those pieces are kept once the run has ended, in ms; the messages themselves stay. */
  readonly streamRetentionMs: number;
  /** Decisions must carry a valid signature of the desk. A start cannot switch it off. */
  readonly requireProof: boolean;
  /** A task must say when it is done: criteria, evidence or an output schema (G114). A start cannot switch it off. */
  readonly requireDone: boolean;
  /** Least output tokens that make a model call worth starting. */
  readonly minOutputTokens: number;
  /** How soon a dead worker is noticed, in ms. */
  readonly heartbeatMs: { readonly repeatable: number; readonly single: number };
  /** Limit of one model call with all its attempts, in ms. */
  readonly modelTimeoutMs: number;
  /** Temperature sent to models that accept one. */
  readonly temperature: number;
  /** Features of the model's vendor that have to be asked for by name. */
  readonly betas: readonly string[];
  /** In place of hashes and names that the runtime finds by itself. Not for a start to say. */
  readonly versions: VersionNames;
}

const DAY_MS = 86_400_000;

export const DEFAULT_SETTINGS: Settings = {
  onDeny: 'observe',
  onInvalid: 'observe',
  onToolFailure: { mode: 'observe', threshold: 1, outcome: 'needs_human' },
  toolExecution: 'serial',
  approvalMode: 'wait',
  permissionMode: 'default',
  allowBypassPermissions: false,
  allowStandingGrants: false,
  allowedTools: [],
  disallowedTools: [],
  maxTokensStrategy: 'auto',
  continuationPrompt: 'You were cut off. Please continue from where you stopped.',
  continuationRole: 'user',
  compactionMetric: 'context',
  minCompactionGain: 0.2,
  minTurnsBetweenCompactions: 2,
  wrapUpTurn: false,
  onBudget: 'stop',
  budgetRoles: [],
  tokenBudget: null,
  fallbackModel: null,
  fallbackSticky: 'turn',
  interruptMode: 'stop',
  turnCounting: 'round_trips',
  timeoutCounts: 'active',
  budgetOverrunPolicy: 'complete',
  afterAnswer: 'complete',
  onOutcomeUnknown: 'ask',
  onApprovalTimeout: 'stop',
  approvalTimeoutMs: 7 * DAY_MS,
  inputTimeoutMs: 7 * DAY_MS,
  idleTimeoutMs: 30 * DAY_MS,
  unservedTimeoutMs: DAY_MS,
  propagateCancellation: false,
  persistSession: null,
  showCwd: false,
  includePartialMessages: false,
  streamRetentionMs: DAY_MS,
  requireProof: false,
  requireDone: false,
  minOutputTokens: 1,
  heartbeatMs: { repeatable: 10_000, single: 60_000 },
  modelTimeoutMs: 600_000,
  temperature: 1,
  betas: [],
  versions: {},
};
