/**
 * Events: what the outside sees of a run.
 * Invariants: `seq` is gap-free from 0 and given by `outbox` alone; the first is `session_init`, the last
 * `run_result`, exactly one is `stop`. The store projects its tables of runs and asks from them.
 */
import type { Json, StoredText } from '../json/json.js';
import type { Attachment } from './attachment.js';
import type { ConnectorState } from './connector.js';
import type { AskOutcome, DecisionKind } from './ask-kinds.js';
import type { DecidedFacts, RefusedDecision } from './ask.js';
import type { GrantRequest } from './grant.js';
import type { HandedFrom } from './handoff.js';
import type { HookPoint } from './hook.js';
import type { Finding, RecoveryStep } from './recovery.js';
import type { RunResult } from './result.js';
import type { ToolResultCode } from './tool-result.js';
import type { Sender } from './mail.js';
import type { SupervisorDecision } from './supervision.js';
import type { GoalEventBody } from './goal/event.js';
import type { ModelRoute, Usage } from './model.js';
import type { ResumedFrom } from './session.js';
import type { AskView } from './ask-view.js';
import type { WarningCode } from './warning.js';

export type Phase =
  | 'initializing'
  | 'checking_limits'
  | 'building_context'
  | 'awaiting_model'
  | 'validating'
  | 'stop_hooks'
  | 'dispatching_tools'
  /** Of goals: between two cycles, in a cycle, in a pass. */
  | 'resting'
  | 'cycling'
  | 'passing'
  | 'finishing';

export type TransitionReason =
  | 'next_turn'
  | 'max_output_tokens_recovery'
  | 'empty_response_retry'
  | 'completion_rejected'
  | 'pause_turn_resume'
  | 'max_tokens_compact_retry'
  | 'reactive_compact_retry'
  | 'proactive_compact'
  | 'stop_hook_blocking'
  | 'token_budget_continuation'
  | 'model_fallback'
  | 'output_schema_retry'
  | 'continued_as_new';

/** An action as people see it. */
export interface ActionView {
  readonly tool: string;
  readonly args: Json;
}

export type EventBody =
  | {
      readonly type: 'session_init';
      readonly agent: string;
      readonly taskId: string;
      readonly goal: StoredText;
      /** Beside the goal. */
      readonly attachments?: readonly Attachment[];
      readonly model: string;
      /** Features of its vendor that are asked for. */
      readonly betas?: readonly string[];
      readonly tools: readonly string[];
      /** Of an agent that uses connectors. */
      readonly connectors?: readonly ConnectorState[];
      readonly caller?: string;
      /** Of a sub-agent: its parent and the call there, its root, and the agents from the root to it. */
      readonly parent?: {
        readonly runId: string;
        readonly callId: string;
        readonly root: string;
        readonly path: readonly string[];
      };
      /** Of a run that has its task from another run, which has ended. */
      readonly handedFrom?: HandedFrom;
      /** Whoever decides must prove who they are. */
      readonly requireProof?: true;
      /** Of a fork: where it began, and what the recorded run had spent until then, in micro-USD. */
      readonly forked?: {
        readonly runId: string;
        readonly step: number;
        readonly spentMicroUsd: number;
      };
      readonly sessionId?: string;
      readonly resumed?: ResumedFrom;
      readonly versions: { readonly [name: string]: string };
      /** Rules number that the run begins with; absent: one before 15. */
      readonly rules?: number;
      /** Of the model that the run begins with; absent: rules before 22. */
      readonly route?: ModelRoute;
    }
  | {
      readonly type: 'model_response';
      readonly call: number;
      readonly messageId: string;
      readonly text?: StoredText;
      readonly calls: readonly {
        readonly id: string;
        readonly tool: string;
        readonly args: Json;
      }[];
      /** Node of the message: it has calls, arguments, thinking or sources that do not stand here. */
      readonly head?: string;
      readonly stopReason: string;
      readonly model: string;
      readonly usage: Usage;
      readonly costMicroUsd: number;
      /** Input tokens of the conversation that the vendor left out by `context_management`. Absent: none. */
      readonly clearedTokens?: number;
      readonly partial?: boolean;
    }
  | {
      readonly type: 'validation';
      readonly decision: 'execute' | 'final' | 'escalate' | 'deny';
      readonly callId?: string;
      readonly tool?: string;
      readonly code?: ToolResultCode;
      readonly message?: string;
    }
  | {
      readonly type: 'permission';
      readonly callId: string;
      readonly tool: string;
      readonly decision: 'allow' | 'deny' | 'ask' | 'sandbox';
      /**
       * `policy:<version>:<index>`, `tool` (its record), `allowedTools`, `mode:<mode>`, `grant:<ask>`,
       * `hook:<name>`, `identity` (the same was done before), `limits` (the call is beyond those of its tool).
       */
      readonly rule: string;
      readonly reason?: string;
    }
  | ({ readonly type: 'approval_requested' } & AskView)
  | {
      readonly type: 'approval_resolved';
      readonly askId: string;
      readonly callId?: string;
      readonly tool?: string;
      readonly outcome: Exclude<AskOutcome, 'pending' | 'withdrawn'>;
      readonly by: readonly string[];
      readonly reason?: string;
      /** With 'modified' and 'replaced': the action that was asked about and the one wanted instead. */
      readonly original?: ActionView;
      readonly corrected?: ActionView;
      /** What the approval allows beyond this call (G13). */
      readonly grant?: GrantRequest;
      /** How long the question was open, in ms. */
      readonly waitedMs: number;
    }
  /** A decision that counts and that its sender could not write into the audit trail. */
  | {
      readonly type: 'decision_recorded';
      readonly askId: string;
      readonly callId?: string;
      readonly decision: DecisionKind;
      /** With `requireProof` proven by the signature in `facts`. */
      readonly by: string;
      readonly facts: DecidedFacts;
    }
  | {
      readonly type: 'approval_withdrawn';
      readonly askId: string;
      readonly callId?: string;
      readonly reason: string;
    }
  /** Nobody has decided yet: from now on these roles may as well. */
  | {
      readonly type: 'approval_escalated';
      readonly askId: string;
      readonly callId?: string;
      readonly roles: readonly string[];
    }
  | ({ readonly type: 'input_request' } & AskView)
  | {
      readonly type: 'input_provided';
      readonly askId: string;
      readonly callId?: string;
      readonly outcome: AskOutcome;
      readonly by: readonly string[];
      /** How much more of a budget was allowed (G91). */
      readonly amount?: number;
    }
  | {
      readonly type: 'user_message';
      readonly messageId: string;
      readonly text: StoredText;
      /** What its sender calls it; absent where they call it nothing, and under rules before 19. */
      readonly clientMessageId?: string;
      readonly attachments?: readonly Attachment[];
      /** A letter of another run of the tree; absent: the user. */
      readonly from?: Sender;
    }
  | {
      readonly type: 'warning';
      readonly code: WarningCode;
      readonly message: string;
      /** With a decision that does not count. */
      readonly about?: RefusedDecision;
    }
  | {
      readonly type: 'tool_started';
      readonly callId: string;
      readonly tool: string;
      readonly key: string;
      readonly args: Json;
      /** Run id of the sub-agent that works on it. */
      readonly child?: string;
    }
  /** What the tool said of its progress while it ran, or its server; told when it has ended. */
  | {
      readonly type: 'tool_note';
      readonly callId: string;
      readonly tool: string;
      readonly message: string;
    }
  | {
      readonly type: 'tool_finished';
      readonly callId: string;
      readonly tool: string;
      readonly status: 'ok' | 'error' | 'skipped';
      readonly code?: ToolResultCode;
      readonly content: StoredText;
      /** What the tool returned beside it. */
      readonly attachments?: readonly Attachment[];
      readonly synthetic: boolean;
      readonly started: boolean;
      readonly attempts: number;
      readonly durationMs: number;
      /** What its executions cost, as the tool said or as was reserved; absent: nothing. */
      readonly costMicroUsd?: number;
      readonly key: string;
      /** Run id of the sub-agent that worked on it. */
      readonly child?: string;
      /** Dataflow: the path of the state that its result became. */
      readonly path?: string;
      /** With 'malformed_result': what the tool returned, which the model does not see (G73). */
      readonly returned?: StoredText;
      /** The vendor ran it, with these arguments as JSON: an observation that nothing here started (G48). */
      readonly hosted?: true;
      readonly args?: StoredText;
    }
  /** What was done to find out what became of an attempt that nobody heard of again. */
  | {
      readonly type: 'tool_reconciled';
      readonly callId: string;
      readonly tool: string;
      readonly key: string;
      readonly attempt: number;
      readonly finding: Finding['kind'];
      readonly steps: readonly RecoveryStep[];
    }
  | {
      readonly type: 'tool_results_message';
      readonly messageId: string;
      readonly callIds: readonly string[];
    }
  | { readonly type: 'transition'; readonly reason: TransitionReason }
  | {
      readonly type: 'hook';
      readonly name: HookPoint;
      readonly hook: string;
      readonly outcome: 'ok' | 'allow' | 'deny' | 'ask' | 'block' | 'prevent' | 'error';
      readonly callId?: string;
      readonly tool?: string;
      readonly message?: string;
      readonly durationMs: number;
    }
  | {
      readonly type: 'compact_boundary';
      readonly trigger: 'auto' | 'reactive';
      readonly preTokens: number;
      readonly postTokens: number;
    }
  /** A message that is no longer part of the conversation (G33). */
  | {
      readonly type: 'tombstone';
      readonly targetMessageId: string;
      readonly reason: string;
    }
  | {
      readonly type: 'retry';
      readonly call: number;
      /** How the attempt before ended. */
      readonly class: string;
      /** The attempt that was made because of it, from 2. */
      readonly attempt: number;
    }
  | {
      readonly type: 'interruption';
      readonly by: 'interrupt' | 'cancel';
      /** Name of the supervisor whose word it is; absent: a person's. */
      readonly supervisor?: string;
    }
  | {
      readonly type: 'supervision';
      /** Of the look, from 1. */
      readonly number: number;
      /** Name of the agent that supervises. */
      readonly supervisor: string;
      readonly decision: SupervisorDecision;
      readonly because: string;
      /** What it says to the run, or asks a person. */
      readonly text?: string;
      /** Of the look, with attempts that brought no reply. */
      readonly costMicroUsd: number;
      readonly usage: Usage;
    }
  | {
      readonly type: 'model_error';
      readonly call: number;
      readonly class: string;
      readonly message: string;
      readonly attempts: number;
    }
  | {
      readonly type: 'stop';
      readonly reason: string;
      /** The rule that ended the run; absent: a fact did, or rules before 15. */
      readonly by?: string;
      readonly detail?: string;
      readonly phase?: string;
    }
  | { readonly type: 'run_result'; readonly result: RunResult }
  | GoalEventBody;

/** What every event carries besides its body. `at` is ms since epoch, workflow time. */
export interface EventStamp {
  readonly seq: number;
  readonly runId: string;
  readonly traceId: string;
  readonly at: number;
  readonly phase: Phase;
  readonly step: number;
  readonly turn: number;
  /** Name of the rule that emitted it (core/loop/rules.ts); absent: a fact told it, or rules before 5. */
  readonly rule?: string;
}

export type RunEvent = EventBody & { readonly stamp: EventStamp };

/** An event on its way to the store: what it shares with its run or with the event before it is not said again. */
export type WireEvent = Lean<EventBody> & { readonly stamp: WireStamp };

/** Without a field: as the event before it in the same payload has it. */
export type WireStamp = Pick<EventStamp, 'seq'> &
  Partial<Pick<EventStamp, 'at' | 'phase' | 'step' | 'turn'>> & {
    /** null: none. */
    readonly rule?: string | null;
  };

/** `content: null`: the result that the same payload appends to the transcript under this call's id. */
type Lean<Body> = Body extends { readonly type: 'tool_finished' }
  ? Omit<Body, 'content'> & { readonly content: StoredText | null }
  : Body;

export type EventType = EventBody['type'];
