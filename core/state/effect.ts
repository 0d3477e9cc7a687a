/**
 * Effects: what the shell must start or cancel. The payloads of the activities behind them are in payloads/.
 * Invariants: an effect's id is unique in its run and not integer-like; it is in flight until an input
 * names it.
 */
import { ownValue } from '../json/json.js';
import type { PermissionMode } from './permission-mode.js';
import type {
  AccountCallInput,
  AccountCallOutput,
  CallModelInput,
  CallModelOutput,
  CompactInput,
  CompactOutput,
  ResolveModelInput,
  ResolveModelOutput,
} from './payloads/model-payloads.js';
import type { RunRef, StoreRef } from './payloads/payload.js';
import type {
  CloseRunInput,
  CloseRunOutput,
  FetchKeysInput,
  FetchKeysOutput,
  FlushInput,
  FlushOutput,
  OpenRunInput,
  OpenRunOutput,
  ReadMailInput,
  ReadMailOutput,
} from './payloads/run-payloads.js';
import type {
  CheckCallInput,
  CheckCallOutput,
  ExecuteToolInput,
  ExecuteToolOutput,
  ReconcileToolInput,
  ReconcileToolOutput,
  RecordOutcomeInput,
  RecordOutcomeOutput,
  RunHooksInput,
  RunHooksOutput,
} from './payloads/tool-payloads.js';
import type {
  CloseChildInput,
  CloseChildOutput,
  PrepareChildInput,
  PrepareChildOutput,
  PrepareHandoffInput,
  PrepareHandoffOutput,
} from './payloads/child-payloads.js';
import type { GoalActivityPayloads } from './goal/payloads.js';
import type { AskSupervisorInput, AskSupervisorOutput } from './payloads/supervision-payloads.js';
import type { Showing } from './showing.js';
import type { StartInput } from './task.js';

export type * from './payloads/model-payloads.js';
export type * from './payloads/payload.js';
export type * from './payloads/run-payloads.js';
export type * from './payloads/tool-payloads.js';
export type * from './payloads/child-payloads.js';
export type * from './payloads/supervision-payloads.js';

/** Limits of an effect, all in ms; the shell only passes them on. */
export interface EffectLimits {
  /** One attempt (start to close). */
  readonly attemptMs: number;
  /** In a task queue that is not the run's, until a worker takes it (schedule to start). */
  readonly queuedMs?: number;
  /** All attempts with the time in between (schedule to close): under rules without `workedTime`. */
  readonly totalMs?: number;
  /** A worker that says nothing for this long is taken to be dead. */
  readonly heartbeatMs?: number;
  /** 0: as often as it takes. */
  readonly maximumAttempts: number;
  /** An attempt that was lost or ran out of time is the last: what it did is not known. */
  readonly once?: true;
}

/** First and longest wait between attempts, in ms. A server's retry-after overrides them. */
export const RETRY_BACKOFF = { initialMs: 500, maximumMs: 30_000, coefficient: 2 };

/** Activities by their types: what goes in, and what comes out. */
export interface ActivityPayloads extends GoalActivityPayloads {
  open_run: { input: OpenRunInput; output: OpenRunOutput };
  call_model: { input: CallModelInput; output: CallModelOutput };
  execute_tool: { input: ExecuteToolInput; output: ExecuteToolOutput };
  reconcile_tool: { input: ReconcileToolInput; output: ReconcileToolOutput };
  record_outcome: { input: RecordOutcomeInput; output: RecordOutcomeOutput };
  check_call: { input: CheckCallInput; output: CheckCallOutput };
  run_hooks: { input: RunHooksInput; output: RunHooksOutput };
  compact: { input: CompactInput; output: CompactOutput };
  resolve_model: { input: ResolveModelInput; output: ResolveModelOutput };
  account_call: { input: AccountCallInput; output: AccountCallOutput };
  fetch_keys: { input: FetchKeysInput; output: FetchKeysOutput };
  read_mail: { input: ReadMailInput; output: ReadMailOutput };
  ask_supervisor: { input: AskSupervisorInput; output: AskSupervisorOutput };
  prepare_child: { input: PrepareChildInput; output: PrepareChildOutput };
  close_child: { input: CloseChildInput; output: CloseChildOutput };
  prepare_handoff: { input: PrepareHandoffInput; output: PrepareHandoffOutput };
  flush: { input: FlushInput; output: FlushOutput };
  close_run: { input: CloseRunInput; output: CloseRunOutput };
}

export type ActivityKind = keyof ActivityPayloads;
export type InputOf<Kind extends ActivityKind> = ActivityPayloads[Kind]['input'];
export type OutputOf<Kind extends ActivityKind> = ActivityPayloads[Kind]['output'];

/** The activities of a worker, as a workflow calls them. */
export type Activities = {
  readonly [Kind in ActivityKind]: (input: InputOf<Kind>) => Promise<OutputOf<Kind>>;
};

interface ActivityMeaning {
  /** Type of the input that its outcome becomes; a failure becomes `effect_failed`. */
  readonly outcome: string;
  /** It works for the run: its time is active time, and no segment ends while it is in flight. */
  readonly works: boolean;
  /** An interrupt and the end of time cancel it. */
  readonly interruptible: boolean;
}

/** Activities by their types: what each means to the run. */
export const ACTIVITIES = {
  open_run: { outcome: 'run_opened', works: true, interruptible: false },
  call_model: { outcome: 'model_replied', works: true, interruptible: true },
  execute_tool: { outcome: 'tool_returned', works: true, interruptible: true },
  reconcile_tool: { outcome: 'tool_reconciled', works: true, interruptible: true },
  record_outcome: { outcome: 'outcome_recorded', works: true, interruptible: true },
  check_call: { outcome: 'call_checked', works: true, interruptible: true },
  run_hooks: { outcome: 'hooks_ran', works: true, interruptible: true },
  compact: { outcome: 'compacted', works: true, interruptible: true },
  resolve_model: { outcome: 'model_resolved', works: true, interruptible: true },
  account_call: { outcome: 'call_accounted', works: true, interruptible: false },
  fetch_keys: { outcome: 'keys_fetched', works: true, interruptible: true },
  read_mail: { outcome: 'mail_read', works: true, interruptible: true },
  ask_supervisor: { outcome: 'supervisor_answered', works: true, interruptible: true },
  prepare_child: { outcome: 'child_prepared', works: true, interruptible: true },
  close_child: { outcome: 'child_closed', works: true, interruptible: false },
  prepare_handoff: { outcome: 'handoff_prepared', works: true, interruptible: true },
  flush: { outcome: 'flushed', works: false, interruptible: false },
  close_run: { outcome: 'run_closed', works: true, interruptible: false },
  open_goal: { outcome: 'goal_opened', works: true, interruptible: false },
  prepare_cycle: { outcome: 'cycle_prepared', works: true, interruptible: true },
  close_cycle: { outcome: 'cycle_closed', works: true, interruptible: false },
  run_check: { outcome: 'check_ran', works: true, interruptible: true },
  ask_judge: { outcome: 'judge_answered', works: true, interruptible: true },
  save_checkpoint: { outcome: 'checkpoint_saved', works: true, interruptible: false },
  take_message: { outcome: 'message_taken', works: true, interruptible: false },
  find_tick: { outcome: 'tick_found', works: true, interruptible: true },
} as const satisfies { readonly [Kind in ActivityKind]: ActivityMeaning };

export const ACTIVITY_KINDS = Object.keys(ACTIVITIES) as readonly ActivityKind[];

/** Of goals alone; `flush` and `fetch_keys` serve both. */
export type GoalActivityKind = keyof GoalActivityPayloads;

export interface BriefForm {
  /** Hash of the route that the run's first event tells. Absent: it tells none. */
  readonly route?: string;
}

interface OfActivity<Kind extends ActivityKind> {
  readonly kind: Kind;
  readonly id: string;
  readonly input: InputOf<Kind>;
  readonly limits: EffectLimits;
  /** One line for people who look at the history. */
  readonly summary: string;
  /** Task queue of the workers that do it; absent: the run's own. */
  readonly queue?: string;
  /** The worker that decides runs it before its task ends: one attempt, of which the history has the outcome alone. */
  readonly local?: true;
  /** The history has the input in its brief form (core/step/brief-input.ts). Absent: whole, as under rules before 22. */
  readonly brief?: BriefForm;
  /** It is larger than a payload may be, even without events: nobody starts it (advance.ts). */
  readonly oversized?: true;
}

export type ActivityEffect = { [Kind in ActivityKind]: OfActivity<Kind> }[ActivityKind];

/** Something is said to the workflow of a child; whether it hears it nobody waits for. */
export type TellChild = { readonly kind: 'tell_child'; readonly child: string } & (
  | { readonly message: 'interrupt' | 'cancel' }
  /** It is to say itself that it has ended; one that is gone is looked at. */
  | { readonly message: 'report' }
  /** How much more money it gets by its nth question, in micro-USD; 0: none. */
  | { readonly message: 'money'; readonly n: number; readonly amount: number }
  /** Permission modes of the run and of those above it, the nearest first. */
  | { readonly message: 'modes'; readonly modes: readonly PermissionMode[] }
  /** Words of the user of the run; an id that was heard before is ignored. */
  | { readonly message: 'say'; readonly text: string; readonly id: string }
);

/** A sub-agent asks its parent for money; a parent that is gone gives none: the input `money_answered`. */
export interface TellParent {
  readonly kind: 'tell_parent';
  readonly parent: string;
  /** Run id of who asks. */
  readonly child: string;
  readonly n: number;
  /** micro-USD */
  readonly amount: number;
}

export type Effect =
  | ActivityEffect
  | { readonly kind: 'timer'; readonly id: string; readonly at: number; readonly summary: string }
  | { readonly kind: 'cancel'; readonly target: string }
  /** Starts a run that goes on without its parent; one that is there already is none the worse. */
  | {
      readonly kind: 'start_child';
      readonly id: string;
      readonly child: string;
      readonly input: StartInput;
      /** Its end is told to this segment: the input `child_done`. */
      readonly hears?: true;
      /** What the start shows in Temporal's own lists. Absent: nothing. */
      readonly shows?: Showing;
    }
  | TellChild
  | TellParent
  | { readonly kind: 'status'; readonly status: string };

/** Work for a worker; all others the shell does by itself. */
export function isActivity(effect: Effect): effect is ActivityEffect {
  return ownValue<ActivityMeaning>(ACTIVITIES, effect.kind) !== undefined;
}

/** Of a run, or of another payload: where a payload belongs. */
export function refOf({ tenant, runId, traceId, store }: RunRef): RunRef {
  const known = store !== undefined && { store: { id: store.id, epoch: store.epoch } };
  return { tenant, runId, traceId, ...known };
}

/** True when it is the store that a run knows, and no older copy has taken its place. */
export function isSameStore(known: StoreRef, { id, epoch }: StoreRef): boolean {
  return known.id === id && known.epoch === epoch;
}
