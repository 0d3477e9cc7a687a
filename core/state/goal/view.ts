/** What a query may see of a goal: small, and safe to show. */
import type { CheckFacts, PlanFacts } from './facts.js';
import type { OpenAsk, RunViewStatus } from '../view.js';
import type { Counters, RunResult, RunStatus, StopReason } from '../result.js';
import type { Pace } from './definition.js';
import type { GoalLimits } from './terms.js';

export type GoalViewStatus = RunViewStatus | 'sleeping' | 'paused' | 'awaiting_worker';

export interface GoalView {
  readonly kind: 'goal';
  readonly runId: string;
  readonly tenant: string;
  readonly agent: string;
  /** The beginning of a long one. */
  readonly objective: string;
  /** ms since epoch. */
  readonly startedAt: number;
  readonly opened: boolean;
  readonly status: GoalViewStatus;
  readonly stop?: {
    readonly reason: StopReason;
    readonly status: RunStatus;
    readonly detail?: string;
  };
  readonly refused?: { readonly code: string; readonly message: string };
  readonly segment: number;
  readonly cycles: number;
  /** The open cycle. */
  readonly cycle?: { readonly n: number; readonly runId: string; readonly agent: string };
  readonly passes: number;
  readonly reviews: number;
  readonly checkpoints: number;
  readonly plan: PlanFacts;
  readonly checks: { readonly [name: string]: CheckFacts };
  readonly done: readonly {
    readonly condition: string;
    readonly verdict: 'held' | 'not_held' | 'unknown' | 'not_asked';
  }[];
  readonly budget?: GoalLimits;
  readonly spentMicroUsd: number;
  readonly reservedMicroUsd: number;
  readonly pace?: Pace;
  readonly sleep?: { readonly until?: number; readonly because: string };
  readonly paused?: { readonly by: string };
  readonly unreadMessages: number;
  readonly asks: readonly OpenAsk[];
  readonly inFlight: readonly { readonly id: string; readonly kind: string }[];
  readonly counters: Counters;
  /** Hash of the memory in the store. */
  readonly memory?: string;
  readonly definition?: string;
  readonly checkpoint?: string;
  /** Number of events emitted so far. */
  readonly events: number;
  readonly result?: RunResult;
}
