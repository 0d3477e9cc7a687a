/** Parts of a run (run.ts), each with what it means. Types alone. */
import type { RefusedDecision } from './ask.js';
import type { Attachment } from './attachment.js';
import type { Call } from './call.js';
import type { RetriedAttempt, StoreRef } from './effect.js';
import type { TransitionReason } from './event.js';
import type { AskView } from './ask-view.js';
import type { AnswerOpinion } from './hook.js';
import type { StoredText } from '../json/json.js';
import type { Sender } from './mail.js';
import type { ModelRoute, Reply } from './model.js';
import type { Counters, RunResult, StopPhase, StopReason } from './result.js';
import type { WarningCode } from './warning.js';

export interface KnownStore extends StoreRef {
  /** When the run learned that an older copy, or another store, has the place; absent: none has. */
  readonly since?: number;
}

/** The reply being worked on, and its calls in proposal order. */
export interface Turn {
  readonly reply: Omit<Reply, 'calls' | 'hosted'>;
  readonly messageId: string;
  /** Of a refusal: the conversation without it. */
  readonly headBefore?: string;
  readonly calls: readonly Call[];
  /** The step that keys of this turn's calls carry. */
  readonly step: number;
  /** The scheduler has begun with its calls. */
  readonly dispatched: boolean;
  /** Its PostSampling hooks have been started. */
  readonly sampled?: true;
  /** What the Stop hooks say of it. */
  readonly judgement?: 'running' | AnswerOpinion;
}

/** A fact worth a person's attention. */
export interface Warning {
  readonly code: WarningCode;
  readonly message: string;
  readonly about?: RefusedDecision;
}

export interface Stopping {
  readonly reason: StopReason;
  /** The rule that ended the run; absent: a fact did, or rules before 15. */
  readonly rule?: string;
  readonly detail?: string;
  readonly phase?: StopPhase;
  readonly nextSafeAction?: string;
  readonly pendingApproval?: AskView;
  /** What `run_result` said, once `stop` and it have been emitted. */
  readonly result?: RunResult;
  readonly sessionEnd?: 'running' | 'done';
  /** What was said last could not be stored. */
  readonly transcript?: 'incomplete';
  /** Of a sub-agent: its row was sealed with its result. */
  readonly sealed?: true;
}

/** Budgets that a person can raise (G91). */
export type BudgetField =
  | 'maxTurns'
  | 'maxModelCalls'
  | 'maxToolCalls'
  | 'timeoutMs'
  | 'maxCostMicroUsd'
  | 'maxInputTokens'
  | 'maxOutputTokens';

/** A budget does not allow what comes next, and a person is asked for more of it. */
export interface Exceeded {
  /** Stop reason if they do not allow it. */
  readonly reason: StopReason;
  readonly field: BudgetField;
  readonly limit: number;
  /** What is asked for, in the budget's own unit. */
  readonly amount: number;
  /** The question, once it is open. */
  readonly askId?: string;
}

/** What a sub-agent asks the run above it for. */
export interface MoneyAsked {
  /** Of its questions, from 1. */
  readonly n: number;
  /** How much more, in micro-USD. */
  readonly amount: number;
  /** Ends the waiting. */
  readonly timer: string;
  /** Run id of the sub-agent of its own that wants it; absent: itself. */
  readonly for?: string;
  /** What it got; 0: nothing. Absent: nobody has answered. */
  readonly answer?: number;
}

export interface Money {
  readonly spentMicroUsd: number;
  /** By effect id: what an in-flight call may still cost. */
  readonly reserved: { readonly [effectId: string]: number };
  /** A vendor billed more than the bound: nothing starts after it (G92). */
  readonly overrun: boolean;
}

/** What the newest turns took, the last one last. */
export interface Growth {
  /** In micro-USD, with tools and summaries. */
  readonly cost: readonly number[];
  readonly tokens: readonly number[];
  /** Spent when the newest of them ended. */
  readonly spentMicroUsd: number;
}

/** A stretch of time, ms since epoch. */
export type Span = readonly [from: number, to: number];

export interface Clock {
  readonly startedAt: number;
  readonly activeMs: number;
  readonly waitingMs: number;
  /** While effects work: stretches that count as waiting until one of these effects says that it worked then. */
  readonly unclaimed?: readonly Span[];
  /** Up to when time is in `unclaimed`, or decided. */
  readonly judgedTo?: number;
}

/** Where a fork began. */
export interface ForkedFrom {
  /** The recorded run. */
  readonly runId: string;
  readonly step: number;
  /** Spent by the recorded run until then: its own cost is what comes on top. */
  readonly spentMicroUsd: number;
  /** Ids of calls that came along with a grant of the recorded run: it lets nothing run here. */
  readonly regrant: readonly string[];
  /** The rules of the recorded run, which it keeps to; absent: the newest. */
  readonly rules?: number;
  /** Of each call that came along the key is known under which it may have been done, over all forks before. */
  readonly keysKnown?: true;
}

/** Why the run went on the last time, and when: ms since epoch. */
export interface NewestTransition {
  readonly reason: TransitionReason;
  readonly at: number;
}

export interface AskedRoute {
  readonly name: string;
  /** Version of its prices. */
  readonly pricing: string;
  /** Of the whole route; absent under rules before 10. */
  readonly hash?: string;
}

/** What differs from the frozen route; read through `route.ts`. */
export interface ModelChoice {
  /** A person's choice in place of the frozen route. */
  readonly route?: ModelRoute;
  readonly onFallback?: boolean;
  /** Named by a person, not yet looked up. */
  readonly wanted?: string;
  /** Looked up; takes over with the next request. */
  readonly next?: ModelRoute;
  /** null: the model's own default. */
  readonly maxThinkingTokens?: number | null;
}

/** The summaries of a run's conversation (C20). */
export interface Compactions {
  /** Begun so far, whatever became of them. */
  readonly begun: number;
  /** Those that made the conversation shorter. */
  readonly proactive: number;
  readonly reactive: number;
  /** The guard against a spiral: reactive ones that were wanted. It only ever grows, over the whole session. */
  readonly reactiveAttempts: number;
  /** `modelCalls` when the newest one was begun. */
  readonly newestAt?: number;
  /** Tokens that the run had used by then, for the metric 'cumulative'. */
  readonly usedBefore?: number;
  readonly current?: CurrentCompaction;
}

/** A compaction that is wanted, under way, or back and not yet acted upon. */
export interface CurrentCompaction {
  readonly cause: 'threshold' | 'max_tokens' | 'prompt_too_long';
  /** Size of the context that is to shrink. */
  readonly preTokens: number;
  /** With 'max_tokens': the reply that was cut off. */
  readonly cut?: CutReply;
  readonly effectId?: string;
  readonly outcome?: CompactionOutcome;
}

export interface CutReply {
  readonly messageId: string;
  /** Incomplete blocks were all it had: there is nothing to continue (G84). */
  readonly empty: boolean;
  /** The answer up to this reply. Absent: this reply began one. */
  readonly before?: StoredText;
}

export type CompactionOutcome =
  | {
      readonly kind: 'summary';
      readonly head: string;
      readonly tokens: number;
      readonly bound: number;
      readonly answerKept?: true;
      /** Bytes of everything under the new head, where the run counts them. */
      readonly bytes?: number;
    }
  /** `limit`: of the run, which is the reason. */
  | {
      readonly kind: 'none';
      readonly message: string;
      readonly limit?: StopReason;
      /** An error of the API, which StopFailure hooks are told of. */
      readonly error?: { readonly code: ModelFailure['code']; readonly attempts: number };
    };

/** Reads that are tried within the task that decides (core/call/quick.ts). */
export interface QuickReads {
  /** Those since the last fact that came from outside of the task; absent: none. */
  readonly row?: QuickRow;
  /** When the newest effect ended that the run heard of in time, ms since epoch; a task of that moment is a first try. */
  readonly inTimeAt?: number;
  /** Attempts that ran out of time, by tool. */
  readonly timeouts?: { readonly [tool: string]: number };
}

export interface QuickRow {
  readonly count: number;
  /** How long they took together, ms. */
  readonly usedMs: number;
  /** The newest of them. */
  readonly effectId: string;
}

/** What a required tool returned: kept word for word, outside the conversation (G78). */
export interface PinnedResult {
  readonly tool: string;
  /** What it proves: `evidence <id>`, `criterion <id>`. Absent: the result is the newest one of its tool. */
  readonly proof?: string;
  readonly content: StoredText;
}

/** Consecutive bad endings of one tool's calls; a success resets them (G20). */
export interface BreakerCount {
  /** Failed attempts with infrastructure codes. */
  readonly failures: number;
  readonly errors: number;
  readonly denied: number;
  readonly invalid: number;
}

/** How often the run has seen each action, a call with its result, since it last saw a new one (G21). */
export interface Repetition {
  readonly counts: { readonly [action: string]: number };
  readonly noticed: boolean;
}

/** Counters of the result as the run keeps them, and those that only its own rules look at. */
export interface Tally extends Omit<
  Counters,
  'compactions' | 'costMicroUsd' | 'activeMs' | 'waitingMs'
> {
  readonly emptyRetries: number;
  readonly pauseResumes: number;
  readonly evidenceRejections: number;
  readonly criteriaRejections: number;
  readonly outputRetries: number;
}

export interface QueuedMessage {
  readonly text: string;
  /** What its sender calls it. */
  readonly clientMessageId?: string;
  readonly attachments?: readonly Attachment[];
  /** Another run of the tree; absent: the user. */
  readonly from?: Sender;
}

export interface ModelFailure {
  readonly code: string;
  readonly message: string;
  readonly attempts: number;
  readonly retried?: readonly RetriedAttempt[];
  /** The call ran against the run's time budget, not its own limit. */
  readonly outOfTime: boolean;
  /** With BudgetExhausted: the stop reason of the budget that the next attempt did not fit. */
  readonly budget?: string;
  /** Some of a reply had arrived and may have been shown. */
  readonly partial?: boolean;
  /** What is to be done about exactly this failure. */
  readonly hint?: string;
}

export type Final =
  | { readonly kind: 'result'; readonly result: RunResult; readonly cancelled: boolean }
  | { readonly kind: 'continue_as_new' }
  /** The run could not be opened: the workflow fails with this error. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };
