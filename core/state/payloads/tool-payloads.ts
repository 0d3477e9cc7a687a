/**
 * Payloads of the activities around one call of a tool: its check, its hooks, its execution, and what became of it.
 * Invariant: they carry references, never conversations (their limits: json.ts).
 */
import type { Attachment } from '../attachment.js';
import type { DeskKey, SignedStatement } from '../statement.js';
import type { AnsweredExchange, OpenExchange } from '../elicitation.js';
import type { State } from '../dataflow.js';
import type { Condition } from '../../json/condition.js';
import type { Repeats } from '../../controls/repeats.js';
import type { Proof } from '../task.js';
import type { HookOutcome, HookPoint } from '../hook.js';
import type { Json, StoredText } from '../../json/json.js';
import type { CallCheck } from '../model.js';
import type { RecoveryStep, Finding } from '../recovery.js';
import type { ToolResultCode } from '../tool-result.js';
import type {
  Acknowledged,
  ElsewhereReason,
  EventBatch,
  Limited,
  NeedsTool,
  QuickAttempt,
  RunRef,
} from './payload.js';

/** A permission to run one call, carried as data and checked again by the activity. */
export interface Grant {
  /** `tool:<version>`, `policy:<version>`, or the ask that approved. */
  readonly basis: 'tool' | 'policy' | 'ask';
  readonly reference: string;
  readonly digest: string;
  readonly policyVersion: string;
  readonly approvedBy: readonly string[];
  /** With basis 'ask' where proofs are required: what the approvers signed. */
  readonly signed?: readonly SignedStatement[];
  /** The call may run in the tool's sandbox only (G18). */
  readonly sandbox?: true;
  /** Keys of the earlier effects that whoever approved has seen. */
  readonly repeats?: readonly string[];
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
  /** An attempt before this one may have taken effect: what this one says holds for itself alone. */
  readonly inDoubt?: true;
  /** Of an attempt that was lost: it had said that its claim was in the ledger (G116). */
  readonly claimed?: true;
  /** The server of its tool has asked a person, who has answered. */
  readonly answered?: AnsweredExchange;
}

export interface ExecuteToolInput extends EventBatch, Limited, NeedsTool {
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
  /** The run is a fork: what its parent or another fork of it did is not done again without a person's word. */
  readonly forked?: true;
  /** Most that one attempt may cost, and all of them together, in micro-USD. Absent: the tool declares nothing. */
  readonly cost?: { readonly each: number; readonly most: number };
  /** One attempt within the task that decides. */
  readonly quick?: QuickAttempt;
}

/** Which call a quick attempt was for: histories have its outcome, and not what it was given. */
export interface QuickCall {
  readonly effectId: string;
  readonly call: Pick<ToolCallRef, 'callId' | 'callKey' | 'tool' | 'args'>;
  /** SHA-256 of the canonical form of all that it was given. */
  readonly input: string;
}

export interface ExecuteToolOutput extends Acknowledged {
  readonly outcome: ToolOutcome;
  readonly attempts: number;
  readonly durationMs: number;
  /** Of all attempts. Absent: nothing was declared and nothing told. */
  readonly costMicroUsd?: number;
  /** A figure of the tool was none: the bound counts. */
  readonly costUnreadable?: true;
  /** Of a tool of a goal: evidence that the call names and that does not exist. */
  readonly warnings?: readonly string[];
  /** What its tool, or the server of it, said while it ran; at most 10. */
  readonly notes?: readonly string[];
  /** Of a quick attempt. */
  readonly quick?: QuickCall;
}

export type ToolOutcome =
  | {
      readonly kind: 'ok';
      readonly content: StoredText;
      readonly attachments?: readonly Attachment[];
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
      /** With 'tool_unavailable': its server describes the tool otherwise than when the run began. */
      readonly changed?: true;
    }
  /** Nothing happened that counts: the server of its tool asks a person first. */
  | ({ readonly kind: 'input_required' } & OpenExchange)
  /** A mutating call of which nobody knows here whether it happened (G96). */
  | {
      readonly kind: 'ambiguous';
      readonly message: string;
      readonly aborted?: boolean;
      /** The ledger attempt that was claimed: a ledger that lacks it later is that of an older copy (G116). */
      readonly claimed?: number;
    }
  /** The key is taken by other arguments (G97). */
  | { readonly kind: 'key_conflict'; readonly message: string }
  /** Nothing happened: the same was done before, and nobody has agreed to do it once more. */
  | { readonly kind: 'repeats'; readonly repeats: Repeats }
  /** Nothing happened: nobody serves the tool with the schema that is wanted, and somebody with this one (G110). */
  | { readonly kind: 'schema_changed'; readonly schemaHash: string }
  /** A quick attempt gave no answer: the call goes on as an ordinary activity. */
  | { readonly kind: 'elsewhere'; readonly reason: ElsewhereReason };

export interface ReconcileToolInput extends EventBatch, NeedsTool {
  readonly v: 1;
  readonly run: RunRef;
  readonly call: ToolCallRef;
  readonly inlineBytesMax: number;
  readonly typed?: boolean;
  readonly timeoutMs: number;
  /** No worker that may ask the tool is there: what the ledger does not know is left to a person. */
  readonly ledgerOnly?: true;
  readonly proofs?: readonly Proof[];
}

export interface ReconcileToolOutput extends Acknowledged {
  readonly finding: Finding;
  /** What was done to find out. Absent: by an earlier release. */
  readonly steps?: readonly RecoveryStep[];
}

/** A person said what became of a call: the ledger learns it before the run goes on. */
export interface RecordOutcomeInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  readonly call: ToolCallRef;
  readonly answer: 'happened' | 'not_happened';
  readonly value?: Json;
  readonly by: readonly string[];
  /** Where proofs are required: what they signed. */
  readonly signed?: readonly SignedStatement[];
}

export interface RecordOutcomeOutput extends Acknowledged {
  /** Nothing was recorded: the key of their signature counts no more. With those that count now. */
  readonly unproven?: { readonly deskKeys: readonly DeskKey[] };
  /** What they gave as its result does not fit the tool's output schema: taken like a probe's answer (G73). */
  readonly finding?: Finding;
  /** As in `ReconcileToolOutput`. */
  readonly steps?: readonly RecoveryStep[];
}

/** Changed arguments are checked like proposed ones: a correction, a hook's input, resolved references. */
export interface CheckCallInput extends EventBatch, NeedsTool {
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
  /** They were checked by this schema in place of the wanted one, which nobody serves (G110). */
  readonly schemaHash?: string;
  /** Dataflow: why the call cannot run although nothing is wrong with it. */
  readonly unmet?:
    { readonly kind: 'condition' } | { readonly kind: 'reference'; readonly path: string };
}

/** All hooks of one point, in one activity. */
export interface RunHooksInput extends EventBatch, Limited {
  readonly v: 1;
  readonly run: RunRef;
  readonly point: HookPoint;
  readonly hooks: readonly string[];
  /** What the hooks are told, by point. */
  readonly payload: Json;
  readonly timeoutMs: number;
}

export interface RunHooksOutput extends Acknowledged {
  /** One for each hook that ran, in order. */
  readonly outcomes: readonly HookOutcome[];
}
