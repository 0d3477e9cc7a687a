/**
 * Run: everything one agent run knows. Plain JSON, small; carried whole over continue-as-new.
 * Invariants:
 *  R1 Texts above INLINE_BYTES_MAX are references, so that a run's size does not grow with its conversation.
 *  R2 `now` is the time of the newest input; nothing in the core reads a clock.
 *  R3 Only `outbox` gives a `seq`, only `stop` sets `stopping`.
 */
import type { RefusedDecision, Ask, Decision, Verdict } from './ask.js';
import type { AskOutcome } from './ask-kinds.js';
import type { Arrival } from './arrival.js';
import type { Carrier } from './carrier.js';
import type { StandingGrant } from './grant.js';
import type { DeskKey } from './statement.js';
import type { Call } from './call.js';
import type { RetriedAttempt, StoreRef } from './effect.js';
import type { State } from './dataflow.js';
import type { Phase } from './event.js';
import type { AskView } from './ask-view.js';
import type { Failure } from './failure.js';
import type { Frozen } from './frozen.js';
import type { TokenTracker } from './token-budget.js';
import type { AnswerOpinion, HookErrand, HookReport } from './hook.js';
import type { Json, StoredText } from '../json/json.js';
import type { ModelRoute, Reply, Usage } from './model.js';
import type { PermissionMode } from './permission-mode.js';
import type { RunResult, StopPhase, StopReason } from './result.js';
import type { RunSession } from './session.js';
import type { StartInput } from './task.js';
import type { TranscriptItem } from './transcript.js';
import type { ContextSize } from './context-size.js';

/** Most late inputs that a result names. */
export const UNPROCESSED_MAX = 50;

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
  readonly code: string;
  readonly message: string;
  readonly about?: RefusedDecision;
}

export interface Stopping {
  readonly reason: StopReason;
  readonly detail?: string;
  readonly phase?: StopPhase;
  readonly nextSafeAction?: string;
  readonly pendingApproval?: AskView;
  /** What `run_result` said, once `stop` and it have been emitted. */
  readonly result?: RunResult;
  readonly sessionEnd?: 'running' | 'done';
  /** What was said last could not be stored. */
  readonly transcript?: 'incomplete';
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

export interface Money {
  readonly spentMicroUsd: number;
  /** By effect id: what an in-flight call may still cost. */
  readonly reserved: { readonly [effectId: string]: number };
  /** A vendor billed more than the bound: nothing starts after it (G92). */
  readonly overrun: boolean;
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
}

export type CompactionOutcome =
  | {
      readonly kind: 'summary';
      readonly head: string;
      readonly tokens: number;
      readonly bound: number;
    }
  /** `limit`: of the run, which is the reason. */
  | { readonly kind: 'none'; readonly message: string; readonly limit?: StopReason };

/** What a required tool returned: kept word for word, outside the conversation (G78). */
export interface PinnedResult {
  readonly tool: string;
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

export interface Tally {
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
  readonly emptyRetries: number;
  readonly pauseResumes: number;
  readonly evidenceRejections: number;
  readonly criteriaRejections: number;
  readonly outputRetries: number;
  readonly stopHookReentries: number;
  readonly fallbacks: number;
  readonly usage: Usage;
}

export interface QueuedMessage {
  readonly text: string;
}

export interface Run extends Carrier {
  readonly shape: 1;
  /** The newest rules that the code knew which decided the first step; absent: that code did not say. */
  readonly begunWith?: number;
  readonly tenant: string;
  readonly runId: string;
  readonly taskId: string;
  readonly traceId: string;
  readonly start: StartInput;
  readonly frozen?: Frozen;
  /** The session that it belongs to; absent for a run that neither resumes nor keeps one. */
  readonly session?: RunSession;
  /** Opened and not announced yet: its SessionStart hooks come first. */
  readonly arrival?: Arrival;
  readonly phase: Phase;
  readonly clock: Clock;
  readonly head: string | null;
  /** Messages that are decided on and not yet nodes. */
  readonly pending: readonly TranscriptItem[];
  readonly nextMessage: number;
  /** The effect that stores the first of `pending` by themselves, and how many. */
  readonly storing?: { readonly effectId: string; readonly messages: number };
  readonly context: ContextSize;
  readonly compactions?: Compactions;
  readonly pinned?: readonly PinnedResult[];
  readonly turn?: Turn;
  /** Logical model requests started so far, answered or not. */
  readonly requests: number;
  readonly modelChoice?: ModelChoice;
  /** Routes that were asked so far, in the order of their first request. */
  readonly routes?: readonly { readonly name: string; readonly pricing: string }[];
  /** Bound of the model call in flight, in tokens: what it counts as when nobody hears of it again. */
  readonly asked?: { readonly inputTokens: number; readonly outputTokens: number };
  readonly tally: Tally;
  readonly money: Money;
  /** Effect id of a model call that ended without a word of what it cost; nothing goes on before that is known. */
  readonly unheard?: string;
  readonly exceeded?: Exceeded;
  /** Questions about budgets so far. */
  readonly budgetAsks?: number;
  readonly breakers: { readonly [tool: string]: BreakerCount };
  readonly repetition?: Repetition;
  /** Schemas of tools that took the place of those that the run began with, by name (G110). */
  readonly schemas?: { readonly [tool: string]: string };
  /** Tools that returned ok, for evidence; names only. */
  readonly evidence: readonly string[];
  /** Dataflow: values by path; a path is written once and never again (C49). */
  readonly state?: State;
  /** Ids of required evidence whose predicate an observation has met. */
  readonly proven?: readonly string[];
  /** Open asks, and closed ones until their call is settled. */
  readonly asks: readonly Ask[];
  /** The newest asks that are closed and whose call is settled, for whoever answers them late. */
  readonly closedAsks: readonly { readonly id: string; readonly outcome: AskOutcome }[];
  /** Decisions for a call of this turn whose question is not open yet (G12). */
  /** Decisions that wait for the keys that the next segment is told (keysAwaited). */
  readonly unjudged?: readonly Decision[];
  readonly early: readonly { readonly decision: Decision; readonly at: number }[];
  /** Approvals that cover later calls as well (G13). */
  readonly grants?: readonly StandingGrant[];
  /** The store that has its records, as it knows it. */
  readonly store?: KnownStore;
  /** Keys of the desk, as this segment was told them; decisions are verified with these. */
  readonly deskKeys?: readonly DeskKey[];
  /** Signatures that were verified at one moment (core/ask/verify.ts). */
  readonly proofs?: { readonly at: number; readonly count: number };
  /** Set from outside; absent: that of the settings. */
  readonly permissionMode?: PermissionMode;
  /** Named from outside, and not decided on yet; the last one counts. */
  readonly wantedMode?: PermissionMode;
  readonly queue: readonly QueuedMessage[];
  readonly seenMessageIds: readonly string[];
  readonly lastAnswer?: StoredText;
  /** The newest answer as the task's output schema has it. */
  readonly lastOutput?: Json;
  readonly partialOutput?: StoredText;
  /** Hooks under way, by effect id. */
  readonly errands?: { readonly [effectId: string]: HookErrand };
  /** What ran outside of the events, for the result. */
  readonly hookReports?: readonly HookReport[];
  /** What PostSampling hooks want said with the next request. */
  readonly injected?: readonly string[];
  readonly preCompact?: 'running' | 'done';
  /** Runs out when the last hooks that nobody waits for do not end. */
  readonly hookGrace?: string;
  /** The reply being asked for follows a Stop hook's objection. */
  readonly stopHookActive?: true;
  readonly tokenTracker?: TokenTracker;
  /** Output tokens of all replies: progress, unlike what attempts and summaries may have cost beside them. */
  readonly replyTokens?: number;
  readonly interrupt?: 'interrupt' | 'cancel';
  /** Where an interrupt that pauses caught the run, until nothing is under way any more. */
  readonly pausing?: StopPhase;
  /** The same, while the paused run waits for its user. */
  readonly paused?: StopPhase;
  /** Fires at the end of a run whose time goes on while people are waited for. */
  readonly endTimer?: string;
  /** Runs out when an interrupted run does not get opened. */
  readonly graceTimer?: string;
  /** `close` has arrived, and no rule has heeded it yet. */
  readonly closeAsked?: true;
  /** The conversation ends when its user has nothing left to say. */
  readonly closeRequested: boolean;
  /** Why the first segment could not be opened. */
  readonly notOpened?: Failure;
  /** Temporal run id of the segment before this one, until its history is archived. */
  readonly previousExecution?: string;
  /** An answer was delivered and the run waits for its user (`afterAnswer: 'await_user'`). */
  readonly idle: boolean;
  /** Status last shown to the outside (search attribute). */
  readonly shownStatus?: string;
  readonly stopping?: Stopping;
  /** A budget is used up and the run says a last word before it stops for it (C42). */
  readonly wrapUp?: { readonly reason: StopReason; readonly asked: boolean };
  /** The failure of the last model call, until a rule has dealt with it. */
  readonly modelFailure?: ModelFailure;
  readonly unprocessed: readonly string[];
  /** Warnings from before the run was opened; told right after `session_init`. */
  readonly heldWarnings?: readonly Warning[];
  /** Answers for senders that wait for one; the shell takes them after each step. */
  readonly verdicts: readonly { readonly ticket: string; readonly verdict: Verdict }[];
  readonly final?: Final;
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

/** A run that has been opened: frozen is there. Rules beyond opening work on this. */
export type OpenRun = Run & { readonly frozen: Frozen };

export function isOpen(run: Run): run is OpenRun {
  return run.frozen !== undefined;
}
