/**
 * Effects: what the shell must start or cancel. The payloads of the activities behind them are in payloads/.
 * Invariants: an effect's id is unique in its run and not integer-like; it is in flight until an input
 * names it.
 */
import type { DeskKey } from './statement.js';
import type { Frozen } from './frozen.js';
import type { StoredText } from '../json/json.js';
import type {
  AccountCallInput,
  CallModelInput,
  CompactInput,
  ResolveModelInput,
} from './payloads/model-payloads.js';
import type { Acknowledged, EventBatch, RunRef, StoreRef } from './payloads/payload.js';
import type {
  CheckCallInput,
  ExecuteToolInput,
  ReconcileToolInput,
  RecordOutcomeInput,
  RunHooksInput,
} from './payloads/tool-payloads.js';
import type { OpenedSession, SavedSession, SessionToSave } from './session.js';
import type { StartInput } from './task.js';
import type { TranscriptItem } from './transcript.js';

export { isSameStore, refOf } from './payloads/payload.js';
export type * from './payloads/model-payloads.js';
export type * from './payloads/payload.js';
export type * from './payloads/tool-payloads.js';

export interface OpenRunInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  readonly segment: number;
  /** First segment only, as the caller sent it: the one payload that may be as large as the run's own input. */
  readonly start?: StartInput;
  /** Later segments: the Temporal run id of the closed segment, whose history is archived. */
  readonly previousExecution?: string;
}

export interface OpenRunOutput extends Acknowledged {
  /** Number of the rule set the worker runs (design §6). */
  readonly rules: number;
  /** First segment only. */
  readonly frozen?: Frozen;
  /** First segment only: root node of the transcript. */
  readonly head?: string;
  /** The goal as it enters the transcript, spilled when large. */
  readonly goal?: StoredText;
  /** First segment of a run that begins or goes on with a session. */
  readonly session?: OpenedSession;
  /** To a run that knows none: the store that has its records from now on. */
  readonly store?: StoreRef;
  /** Every segment: keys of the desk that count now. Absent: none. */
  readonly deskKeys?: readonly DeskKey[];
}

export interface FlushInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  /** With messages: the newest node that is in the store. */
  readonly head?: string;
  /** Messages that are too large for the request that would bring them along. */
  readonly append?: readonly TranscriptItem[];
}

export interface FlushOutput extends Acknowledged {
  /** With messages: the newest of them. */
  readonly head?: string;
}

export interface CloseRunInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  readonly head: string | null;
  readonly append: readonly TranscriptItem[];
  /** Present when the run's session is kept. */
  readonly session?: SessionToSave;
}

export interface CloseRunOutput extends Acknowledged {
  readonly head: string | null;
  /** Absent: there was none to store. */
  readonly session?: SavedSession;
  /** The store has lost the conversation, and what was said last is not in it. */
  readonly transcript?: 'incomplete';
}

/** Limits of an effect, all in ms; the shell only passes them on. */
export interface EffectLimits {
  /** One attempt (start to close). */
  readonly attemptMs: number;
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

interface OfActivity<Kind extends string, Payload> {
  readonly kind: Kind;
  readonly id: string;
  readonly input: Payload;
  readonly limits: EffectLimits;
  /** One line for people who look at the history. */
  readonly summary: string;
  /** It is larger than a payload may be, even without events: nobody starts it (engine.ts). */
  readonly oversized?: true;
}

export type ActivityEffect =
  | OfActivity<'open_run', OpenRunInput>
  | OfActivity<'call_model', CallModelInput>
  | OfActivity<'execute_tool', ExecuteToolInput>
  | OfActivity<'reconcile_tool', ReconcileToolInput>
  | OfActivity<'record_outcome', RecordOutcomeInput>
  | OfActivity<'check_call', CheckCallInput>
  | OfActivity<'run_hooks', RunHooksInput>
  | OfActivity<'compact', CompactInput>
  | OfActivity<'resolve_model', ResolveModelInput>
  | OfActivity<'account_call', AccountCallInput>
  | OfActivity<'flush', FlushInput>
  | OfActivity<'close_run', CloseRunInput>;

export type Effect =
  | ActivityEffect
  | { readonly kind: 'timer'; readonly id: string; readonly at: number; readonly summary: string }
  | { readonly kind: 'cancel'; readonly target: string }
  | { readonly kind: 'status'; readonly status: string };
