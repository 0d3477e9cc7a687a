/** What a query may see of a run: small, and safe to show. */
import type { AskView, Phase } from './event.js';
import type { PermissionMode } from './permission-mode.js';
import type { Counters, RunResult } from './result.js';

export type RunViewStatus =
  | 'running'
  | 'awaiting_approval'
  | 'awaiting_input'
  | 'awaiting_outcome'
  | 'awaiting_budget'
  | 'awaiting_user'
  | 'closing'
  | 'completed'
  | 'stopped'
  | 'failed'
  | 'cancelled';

export interface RunView {
  readonly runId: string;
  readonly tenant: string;
  readonly agent: string;
  /** The session that the run belongs to; the run's own id without one, absent until the run is opened. */
  readonly sessionId?: string;
  /** Route of the next model request; absent until the run is opened. */
  readonly model?: string;
  /** Absent until the run is opened. */
  readonly permissionMode?: PermissionMode;
  /** The run was opened: its agent, model and limits are frozen. */
  readonly opened: boolean;
  readonly status: RunViewStatus;
  readonly phase: Phase;
  readonly segment: number;
  readonly counters: Counters;
  readonly reservedMicroUsd: number;
  readonly asks: readonly AskView[];
  readonly inFlight: readonly { readonly id: string; readonly kind: string }[];
  readonly queuedMessages: number;
  /** Number of events emitted so far. */
  readonly events: number;
  readonly result?: RunResult;
}
