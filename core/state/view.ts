/** What a query may see of a run: small, and safe to show. */
import type { Vote } from './ask.js';
import type { AskOutcome } from './ask-kinds.js';
import type { GrantView } from './grant.js';
import type { Budget } from './budget-fields.js';
import type { Phase } from './event.js';
import type { AskView } from './ask-view.js';
import type { PermissionMode } from './permission-mode.js';
import type { NewestTransition } from './run-parts.js';
import type { Counters, RunResult, RunStatus, StopReason } from './result.js';

/** What is stored of a run's status; every list of statuses is this one. */
export const STORED_STATUSES = [
  'running',
  'awaiting_approval',
  'awaiting_input',
  'awaiting_outcome',
  'awaiting_budget',
  'awaiting_user',
  'completed',
  'stopped',
  'failed',
  'cancelled',
] as const;
export type StoredRunStatus = (typeof STORED_STATUSES)[number];
/** The run itself also knows that it is about to end. */
export type RunViewStatus = StoredRunStatus | 'closing';

/** A question that is open, with what people have said so far. */
export interface OpenAsk extends AskView {
  readonly votes: readonly Pick<Vote, 'by' | 'decision' | 'decidedAt'>[];
  /** An approval of it may be a standing grant as well. */
  readonly takesGrant?: true;
}

/** A question that the run has asked. */
export interface Question {
  readonly outcome: AskOutcome;
  /** Absent for one that closed long ago. */
  readonly ask?: AskView;
}

export interface RunView {
  readonly runId: string;
  readonly tenant: string;
  readonly agent: string;
  /** Who works on it after a handoff; absent: `agent`. */
  readonly actingAgent?: string;
  /** Begins the idempotency keys of the run's calls. */
  readonly taskId: string;
  /** The beginning of a long one. */
  readonly goal: string;
  /** ms since epoch. */
  readonly startedAt: number;
  /** Id of the store that has its records; absent: it follows rules before 8, or a worker of a release before answers. */
  readonly store?: string;
  /** The session that the run belongs to; the run's own id without one, absent until the run is opened. */
  readonly sessionId?: string;
  /** Route of the next model request; absent until the run is opened. */
  readonly model?: string;
  /** Absent until the run is opened. */
  readonly permissionMode?: PermissionMode;
  /** Newest stored node of its conversation; absent until the run is opened. */
  readonly head?: string;
  /** The run was opened: its agent, model and limits are frozen. */
  readonly opened: boolean;
  readonly status: RunViewStatus;
  /** How it ends, from the moment when that is decided; its record may come later. */
  readonly stop?: {
    readonly reason: StopReason;
    readonly status: RunStatus;
    readonly detail?: string;
  };
  /** Why the run was not opened; absent: it was, or may yet be. */
  readonly refused?: { readonly code: string; readonly message: string };
  readonly phase: Phase;
  /** Why it went on the last time; absent: it has not yet, or follows rules before 10. */
  readonly transition?: NewestTransition;
  readonly segment: number;
  readonly counters: Counters;
  readonly reservedMicroUsd: number;
  /** What it may use in all, as it is now; absent until the run is opened. */
  readonly budget?: Budget;
  readonly asks: readonly OpenAsk[];
  /** Approvals that cover later calls as well; absent: none does. */
  readonly grants?: readonly GrantView[];
  readonly inFlight: readonly { readonly id: string; readonly kind: string }[];
  readonly queuedMessages: number;
  /** Number of events emitted so far. */
  readonly events: number;
  readonly result?: RunResult;
}
