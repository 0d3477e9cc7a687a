/** The result of a run and its counters. Plain JSON, small. */
import type { HookReport } from './hook.js';
import type { Json, StoredText } from '../json/json.js';
import type { AskView } from './ask-view.js';
import type { HandedTo } from './handoff.js';
import type { Usage } from './model.js';

export type RunStatus = 'completed' | 'stopped' | 'failed' | 'cancelled';

export type StopReason =
  | 'completed'
  | 'empty_response'
  | 'evidence_missing'
  | 'invalid_output'
  | 'refused'
  | 'needs_human'
  | 'tool_failure'
  | 'tool_unavailable'
  | 'max_turns'
  | 'max_tool_calls'
  | 'timeout'
  | 'max_cost'
  | 'max_input_tokens'
  | 'max_output_tokens'
  | 'max_tokens'
  | 'prompt_too_long'
  | 'stop_hook_prevented'
  | 'interrupted'
  | 'aborted'
  | 'failed';

/** Where a run was when it was interrupted (C25). */
export type StopPhase = 'before_model' | 'streaming' | 'before_tools' | 'tools';

export interface Counters {
  readonly modelCalls: number;
  readonly turnCount: number;
  readonly step: number;
  readonly proposedCalls: number;
  readonly toolCalls: number;
  readonly toolAttempts: number;
  readonly deniedCalls: number;
  readonly invalidCalls: number;
  readonly skippedCalls: number;
  readonly inputRequests: number;
  readonly notStartedCalls: number;
  readonly recoveryCount: number;
  readonly compactions: { readonly proactive: number; readonly reactive: number };
  readonly stopHookReentries: number;
  readonly fallbacks: number;
  readonly usage: Usage;
  readonly costMicroUsd: number;
  readonly activeMs: number;
  readonly waitingMs: number;
}

export interface SessionOutcome {
  readonly id: string;
  readonly saved: boolean;
  /** Another run had stored this session meanwhile: this one's is kept beside it, as a fork. */
  readonly forkedFrom?: string;
}

export interface RunResult {
  readonly runId: string;
  readonly status: RunStatus;
  readonly stopReason: StopReason;
  readonly detail?: string;
  readonly phase?: StopPhase;
  /** Always equal to `stopReason === 'completed'`. */
  readonly completed: boolean;
  readonly answer?: StoredText;
  readonly output?: Json;
  readonly partialOutput?: StoredText;
  /** The action that needed a word when `approvalMode` is 'stop' (C15). */
  readonly pendingApproval?: AskView;
  /** What a person should do now; absent when the run completed. */
  readonly nextSafeAction?: string;
  /** With the detail `handed_off`: the run that goes on with the task. */
  readonly handedTo?: HandedTo;
  readonly usage: Usage;
  readonly costMicroUsd: number;
  readonly budgetOverrun?: boolean;
  readonly counters: Counters;
  readonly versions: { readonly [name: string]: string };
  /** The run's events in the store explain every step. */
  readonly trace: { readonly runId: string; readonly traceId: string; readonly events: number };
  /** Of a run with a session, in what the run returns: under which id it goes on, and whether it was stored. */
  readonly session?: SessionOutcome;
  /** The store has lost messages of the conversation, and the last ones could not be added; in what the run returns. */
  readonly transcript?: 'incomplete';
  /** Of a sub-agent, in what the run returns: its row was sealed with this result, so that nothing it still does counts. */
  readonly sealed?: true;
  /** Hooks at the start and, in what the run returns, at its end (G98). */
  readonly hooks?: readonly HookReport[];
  /** Inputs that arrived after closing began (G98). */
  readonly unprocessed?: readonly string[];
  /** Of a goal. */
  readonly goal?: GoalOutcome;
}

/** Plan, measurements, reviews and child runs are in the memory, which readers with the store resolve. */
export interface GoalOutcome {
  /** The beginning of a long one. */
  readonly objective: string;
  readonly cycles: number;
  readonly reviews: number;
  readonly checkpoints: number;
  readonly done: readonly ConditionOutcome[];
  /** Hash of the newest checkpoint; absent: none was saved. */
  readonly checkpoint?: string;
  /** Hash of the memory. */
  readonly memory?: string;
  /** Run ids of children whose end nobody could confirm. */
  readonly unconfirmed?: readonly string[];
  /** Ids of messages that no cycle has read. */
  readonly unprocessed?: readonly string[];
}

export interface ConditionOutcome {
  /** The condition in a few words. */
  readonly condition: string;
  readonly held: boolean;
  readonly verdict: 'held' | 'not_held' | 'unknown' | 'not_asked';
  readonly value?: number;
  readonly evidence: readonly string[];
}
