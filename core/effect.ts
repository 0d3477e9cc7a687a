/**
 * Effects: what the shell must start or cancel, and the payloads of the activities behind them.
 * Invariants: an effect's id is unique in its run and not integer-like; it is in flight until an input
 * names it; payloads carry references, never conversations (their limits: payload-size.ts).
 */
import type { WireEvent } from './event.js';
import type { Frozen } from './frozen.js';
import type { Json, StoredText } from './json.js';
import type { State } from './call/references.js';
import type { Condition } from './condition.js';
import type { Proof } from './gates/evidence.js';
import type { HookOutcome, HookPoint } from './hooks/hook.js';
import type { AttemptBound, CallCheck, ModelRoute, Reply } from './model.js';
import type { OpenedSession, SavedSession, SessionToSave } from './session/session.js';
import type { StartInput } from './task.js';
import type { ToolResultCode } from './tool-result.js';
import type { TranscriptItem } from './transcript.js';

/** Where a payload belongs; first in every activity input. */
export interface RunRef {
  readonly tenant: string;
  readonly runId: string;
  readonly traceId: string;
}

export function refOf(run: RunRef): RunRef {
  return { tenant: run.tenant, runId: run.runId, traceId: run.traceId };
}

/** Events on their way to the store; the outcome acknowledges `eventsUpTo`. */
export interface EventBatch {
  readonly events: readonly WireEvent[];
}

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
}

export interface Acknowledged {
  /** All events with `seq` below this number are in the store. */
  readonly eventsUpTo: number;
}

export interface CallModelInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  /** Number of the logical model call, from 1. */
  readonly call: number;
  /** Newest node that is already in the store. */
  readonly head: string;
  /** Messages to append before the request, in order. */
  readonly append: readonly TranscriptItem[];
  /** Id of the assistant message that the reply becomes. */
  readonly replyMessageId: string;
  readonly route: Frozen['route'];
  /** Names of the tools offered; undefined: all of the root node; none: the model may not call any. */
  readonly offered?: readonly string[];
  /** The system prompt's changing part, said after the root's (G37). */
  readonly dynamic?: readonly string[];
  readonly maxTokens: number;
  readonly temperature: number;
  /** 0: no thinking; undefined: the model's own default. */
  readonly maxThinkingTokens?: number;
  /** Features of the vendor to ask for; absent: none. */
  readonly betas?: readonly string[];
  /** Calls say what they wait for and where their results go: it is taken off their arguments. */
  readonly dataflow?: boolean;
  /** Bound of one attempt (design §10). */
  readonly bound: AttemptBound;
  /** What all attempts of this call together may cost and use; null: no limit. */
  readonly left: SpendingLeft;
  readonly maxRetries: ModelRetries;
  /** JSON Schema, as text, that an answer without calls is checked against. */
  readonly outputSchema?: StoredText;
  /** The reply is streamed to readers; its pieces are kept for so long after the run. */
  readonly stream?: { readonly keepMs: number };
}

/** An attempt that was made because the one before it ended with `class`. */
export interface RetriedAttempt {
  readonly attempt: number;
  /** An ErrorCode, or 'WorkerLost'. */
  readonly class: string;
}

export interface SpendingLeft {
  readonly costMicroUsd: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

export interface ModelRetries {
  readonly serverError: number;
  readonly other: number;
}

export interface CallModelOutput extends Acknowledged {
  /** Node of the assistant message; equal to the head before it when nothing was left of the reply. */
  readonly head: string;
  readonly reply: Reply;
  /** Of a refused request: the head without the refusal, for another model to answer. */
  readonly headBefore?: string;
  readonly attempts: number;
  readonly retried?: readonly RetriedAttempt[];
  /** Billed or estimated for failed attempts, on top of the reply's own usage (G25). */
  readonly lostCostMicroUsd: number;
  /** Absent: none. */
  readonly lostUsage?: Reply['usage'];
}

/** A permission to run one call, carried as data and checked again by the activity. */
export interface Grant {
  /** `tool:<version>`, `policy:<version>`, or the ask that approved. */
  readonly basis: 'tool' | 'policy' | 'ask';
  readonly reference: string;
  readonly digest: string;
  readonly policyVersion: string;
  readonly approvedBy: readonly string[];
  /** The call may run in the tool's sandbox only (G18). */
  readonly sandbox?: true;
}

export interface ToolCallRef {
  readonly callId: string;
  readonly callKey: string;
  /** Idempotency key, tenant-prefixed unless the tenant is 'default'. */
  readonly key: string;
  readonly tool: string;
  readonly toolVersion: string;
  readonly args: Json;
  readonly digest: string;
  /** Ledger attempt, from 1; only a person's "did not happen" raises it. */
  readonly attempt: number;
}

export interface ExecuteToolInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  readonly call: ToolCallRef;
  readonly grant: Grant;
  readonly timeoutMs: number;
  /** A result up to this size may come back inline; larger ones by reference. */
  readonly inlineBytesMax: number;
  /** The result says whether it is a text: other calls refer to it. */
  readonly typed?: boolean;
  /** Failures of the tool that are retried (a worker's death is not one). */
  readonly maxRetries: number;
  /** What a result may prove that the run cannot look into. */
  readonly proofs?: readonly Proof[];
}

export interface ExecuteToolOutput extends Acknowledged {
  readonly outcome: ToolOutcome;
  readonly attempts: number;
  readonly durationMs: number;
}

export type ToolOutcome =
  | {
      readonly kind: 'ok';
      readonly content: StoredText;
      readonly reused?: boolean;
      /** Of a result by reference: ids of the evidence that the whole of it proves. */
      readonly proves?: readonly string[];
    }
  /** Nothing happened, or (reads) nothing that matters. */
  | {
      readonly kind: 'error';
      readonly code: ToolResultCode;
      readonly message: string;
      /** What it returned that does not fit its output schema: for the trace alone (G73). */
      readonly returned?: StoredText;
    }
  /** A mutating call of which nobody knows here whether it happened (G96). */
  | { readonly kind: 'ambiguous'; readonly message: string; readonly aborted?: boolean }
  /** The key is taken by other arguments (G97). */
  | { readonly kind: 'key_conflict'; readonly message: string };

export interface ReconcileToolInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  readonly call: ToolCallRef;
  readonly inlineBytesMax: number;
  readonly typed?: boolean;
  readonly timeoutMs: number;
  readonly proofs?: readonly Proof[];
}

export type Finding =
  | {
      readonly kind: 'happened';
      readonly source: 'tool' | 'probe';
      readonly content: StoredText;
      /** The content does not fit the tool's output schema: what the model is told instead (G73). */
      readonly malformed?: string;
      /** As with an outcome. */
      readonly proves?: readonly string[];
    }
  | { readonly kind: 'not_happened' }
  | { readonly kind: 'unknown'; readonly message: string };

export interface ReconcileToolOutput extends Acknowledged {
  readonly finding: Finding;
}

/** A person said what became of a call: the ledger learns it before the run goes on. */
export interface RecordOutcomeInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  readonly call: ToolCallRef;
  readonly answer: 'happened' | 'not_happened';
  readonly value?: Json;
  readonly by: readonly string[];
}

/** Changed arguments are checked like proposed ones: a correction, a hook's input, resolved references. */
export interface CheckCallInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  readonly tool: string;
  readonly toolVersion: string;
  readonly args: Json;
  /** Stored texts that `args` may name by `$blob`; any other name is refused. */
  readonly blobs?: readonly string[];
  /** Most bytes of the arguments in their stored form; default and highest: ARGUMENTS_BYTES_MAX. */
  readonly argsBytesMax?: number;
  /** Dataflow: values that references in `args` and the condition stand for; absent: no references. */
  readonly state?: State;
  readonly when?: Condition;
}

export interface CheckCallOutput extends Acknowledged {
  /** As they will be executed, large strings spilled. */
  readonly args: Json;
  readonly digest: string;
  readonly check: CallCheck;
  /** Dataflow: why the call cannot run although nothing is wrong with it. */
  readonly unmet?:
    { readonly kind: 'condition' } | { readonly kind: 'reference'; readonly path: string };
}

/** All hooks of one point, in one activity (design §6). */
export interface RunHooksInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  readonly point: HookPoint;
  readonly hooks: readonly string[];
  /** What the hooks are told, by point (D8). */
  readonly payload: Json;
  readonly timeoutMs: number;
}

export interface RunHooksOutput extends Acknowledged {
  /** One for each hook that ran, in order. */
  readonly outcomes: readonly HookOutcome[];
}

/** Summarises the older part of the conversation under a new head (G34). */
export interface CompactInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  /** Number of this compaction in the run, from 1. */
  readonly number: number;
  readonly head: string;
  readonly append: readonly TranscriptItem[];
  /** Id of the message that the summary becomes. */
  readonly messageId: string;
  readonly trigger: 'auto' | 'reactive';
  readonly route: ModelRoute;
  /** Names of the tools offered; undefined: all of the root node. What was cached stays cached. */
  readonly offered?: readonly string[];
  /** Size of the conversation now; sizes of its parts are reckoned by their share of it. */
  readonly preTokens: number;
  /** Most turns at the end that stay as they are. */
  readonly keepTurns: number;
  /** A reply that was cut off and will be asked for again: the new conversation goes on without it. */
  readonly dropped?: string;
  /** Said beside the summary word for word: pinned evidence, state. */
  readonly pinned: readonly string[];
  /** The same for texts that lie in the store. */
  readonly pinnedRefs?: readonly { readonly label: string; readonly content: StoredText }[];
  /** Most characters of each of them. */
  readonly pinnedCharsMax: number;
  readonly maxTokens: number;
  readonly betas?: readonly string[];
  /** Bound of one attempt (design §10). */
  readonly bound: CallModelInput['bound'];
  readonly left: SpendingLeft;
  readonly maxRetries: ModelRetries;
}

export interface CompactOutput extends Acknowledged {
  readonly head: string;
  /** Estimated tokens of the context under the new head. */
  readonly tokens: number;
  /** Bytes of everything under the new head, which bound its tokens; undefined: nobody has counted. */
  readonly bytes?: number;
  readonly usage: Reply['usage'];
  readonly lostCostMicroUsd: number;
  readonly lostUsage: Reply['usage'];
}

/** The route of a model that a person or a fallback names (G24, G76). */
export interface ResolveModelInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  readonly model: string;
}

export interface ResolveModelOutput extends Acknowledged {
  readonly resolved:
    | { readonly ok: true; readonly route: ModelRoute }
    | { readonly ok: false; readonly reason: string };
}

/** What the attempts of a model call have cost whose activity never said it (G25). */
export interface AccountCallInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  /** The call, of this segment. */
  readonly effectId: string;
}

export interface AccountCallOutput extends Acknowledged {
  readonly lostCostMicroUsd: number;
  readonly lostUsage: Reply['usage'];
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
}

/** Limits of an effect, all in ms; the shell only passes them on. */
export interface EffectLimits {
  /** One attempt (start to close). */
  readonly attemptMs: number;
  /** All attempts with the time in between (schedule to close). */
  readonly totalMs?: number;
  /** A worker that says nothing for this long is taken to be dead. */
  readonly heartbeatMs?: number;
  /** 0: as often as it takes. */
  readonly maximumAttempts: number;
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
