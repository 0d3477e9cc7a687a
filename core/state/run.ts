/**
 * Run: everything one agent run knows. Plain JSON, small; carried whole over continue-as-new.
 * Invariants:
 *  R1 Texts above INLINE_BYTES_MAX are references, so that a run's size does not grow with its conversation.
 *  R2 `now` is the time of the newest input; nothing in the core reads a clock.
 *  R3 Only `outbox` gives a `seq`, only `stop` sets `stopping`.
 */
import type { Ask, Decided, Decision, KeyWait, Verdict } from './ask.js';
import type { Arrival } from './arrival.js';
import type { Carrier } from './carrier.js';
import type { StandingGrant } from './grant.js';
import type { DeskKey } from './statement.js';
import type { Effect } from './effect.js';
import type { State } from './dataflow.js';
import type { Phase } from './event.js';
import type { Failure } from './failure.js';
import type { StopPhase, StopReason } from './result.js';
import type { Frozen } from './frozen.js';
import type { HandedTo, Handoff } from './handoff.js';
import type { TokenTracker } from './token-budget.js';
import type { HookErrand, HookPoint, HookReport } from './hook.js';
import type { Mailbox } from './mail.js';
import type { RunChild } from './run-child.js';
import type { Json, StoredText } from '../json/json.js';
import type { PermissionMode } from './permission-mode.js';
import type { RunSession } from './session.js';
import type { Supervision } from './supervision.js';
import type { StartInput } from './task.js';
import type { TranscriptItem } from './transcript.js';
import type { ContextSize } from './context-size.js';
import type { WarningCode } from './warning.js';
import type {
  AskedRoute,
  BreakerCount,
  Clock,
  Compactions,
  Exceeded,
  Final,
  ForkedFrom,
  Growth,
  KnownStore,
  ModelChoice,
  ModelFailure,
  Money,
  MoneyAsked,
  NewestTransition,
  PinnedResult,
  QuickReads,
  QueuedMessage,
  Repetition,
  Stopping,
  Tally,
  Turn,
  Warning,
} from './run-parts.js';

export type * from './run-parts.js';

/** Most late inputs that a result names. */
export const UNPROCESSED_MAX = 50;

export interface Run extends Carrier {
  readonly shape: 1;
  /** The newest rules that the code knew which decided the first step; absent: that code did not say. */
  readonly begunWith?: number;
  /** Its opening is to be tried within the first task (core/loop/open-within.ts). */
  readonly opensWithin?: true;
  readonly tenant: string;
  readonly runId: string;
  readonly taskId: string;
  readonly traceId: string;
  readonly start: StartInput;
  readonly frozen?: Frozen;
  /** The session that it belongs to; absent for a run that neither resumes nor keeps one. */
  readonly session?: RunSession;
  /** Of a fork: the recorded run from whose state it began. */
  readonly forked?: ForkedFrom;
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
  readonly routes?: readonly AskedRoute[];
  /** Bound of the model call in flight, in tokens: what it counts as when nobody hears of it again. */
  readonly asked?: { readonly inputTokens: number; readonly outputTokens: number };
  readonly tally: Tally;
  readonly money: Money;
  /** For the alarm on turns that keep doubling. */
  readonly growth?: Growth;
  /** Effect id of a model call that ended without a word of what it cost; nothing goes on before that is known. */
  readonly unheard?: string;
  readonly exceeded?: Exceeded;
  /** Of a sub-agent: what it asks its parent for, one at a time. */
  readonly moneyAsked?: MoneyAsked;
  /** How often it has asked its parent. */
  readonly moneyAsks?: number;
  /** Questions about budgets so far. */
  readonly budgetAsks?: number;
  readonly breakers: { readonly [tool: string]: BreakerCount };
  readonly repetition?: Repetition;
  /** Schemas of tools that took the place of those that the run began with, by name (G110). */
  readonly schemas?: { readonly [tool: string]: string };
  /** Tools that their servers describe otherwise than at the opening: nothing calls them any more. */
  readonly changedTools?: readonly string[];
  /** Tools that returned ok, for evidence; names only. */
  readonly evidence: readonly string[];
  /** Sub-agents that have no outcome yet; they go along from segment to segment. */
  readonly children?: readonly RunChild[];
  /** Number of the newest sub-agent. */
  readonly childrenStarted?: number;
  /** Of a sub-agent: it says to its parent that it has ended, which would not hear of it otherwise. */
  readonly tellsEnd?: true;
  /** Runs out when sub-agents that were told to stop do not end. */
  readonly childGrace?: string;
  readonly quick?: QuickReads;
  /** Dataflow: values by path; a path is written once and never again (C49). */
  readonly state?: State;
  /** Ids of required evidence whose predicate an observation has met. */
  readonly proven?: readonly string[];
  /** Open asks, and closed ones until their call is settled. */
  readonly asks: readonly Ask[];
  /** The newest asks that are closed and whose call is settled, for whoever answers them late. */
  readonly closedAsks: readonly ({ readonly id: string } & Decided)[];
  /** Decisions that wait for the keys that the next segment is told (keysAwaited). */
  readonly unjudged?: readonly Decision[];
  /** Decisions that wait for keys which are fetched (keysFetched). */
  readonly keyWait?: KeyWait;
  /** Decisions for a call of this turn whose question is not open yet (G12). */
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
  /** Of a sub-agent: modes of its ancestors, the nearest first, where one has changed since the sub-agent began. */
  readonly modesAbove?: readonly PermissionMode[];
  /** Named from outside in this order, and not decided on yet. */
  readonly wantedModes?: readonly PermissionMode[];
  /** Absent: nobody supervises it. */
  readonly supervision?: Supervision;
  /** Letters of other runs; absent: nobody has said that there are any. */
  readonly mail?: Mailbox;
  readonly queue: readonly QueuedMessage[];
  readonly seenMessageIds: readonly string[];
  readonly lastAnswer?: StoredText;
  readonly transition?: NewestTransition;
  /** The newest answer as the task's output schema has it. */
  readonly lastOutput?: Json;
  readonly partialOutput?: StoredText;
  /** First message of the answer whose text so far is `partialOutput`: the next reply goes on with it (G100). */
  readonly answerFrom?: string;
  /** Hooks under way, by effect id. */
  readonly errands?: { readonly [effectId: string]: HookErrand };
  /** What ran outside of the events, for the result. */
  readonly hookReports?: readonly HookReport[];
  /** What PostSampling hooks want said with the next request. */
  readonly injected?: readonly string[];
  readonly preCompact?: 'running' | 'done';
  /** Runs out when the last hooks that nobody waits for do not end. */
  readonly hookGrace?: string;
  /** Answers that Stop hooks sent back before this run, in its session (G103). */
  readonly earlierReentries?: number;
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
  /** Granted, and the next agent is not there yet. */
  readonly handoff?: Handoff;
  /** Handoffs that were granted so far. */
  readonly handoffs?: number;
  /** The run that has taken the task over. */
  readonly handedTo?: HandedTo;
  readonly unprocessed: readonly string[];
  /** Warnings that a run gives once, and has given. */
  readonly warnedOnce?: readonly WarningCode[];
  /** Warnings from before the run was opened; told right after `session_init`. */
  readonly heldWarnings?: readonly Warning[];
  /** Answers for senders that wait for one; the shell takes them after each step. */
  readonly verdicts: readonly { readonly ticket: string; readonly verdict: Verdict }[];
  readonly final?: Final;
}

/** What a decision makes of a run, or of another carrier, and the effects that it hands over, in order. */
export interface Step<C extends Carrier = Run> {
  readonly run: C;
  readonly effects: readonly Effect[];
}

/** A run that has been opened: frozen is there. Rules beyond opening work on this. */
export type OpenRun = Run & { readonly frozen: Frozen };

export function isOpen(run: Run): run is OpenRun {
  return run.frozen !== undefined;
}

export function hasHooks(run: OpenRun, point: HookPoint): boolean {
  return (run.frozen.hooks[point] ?? []).length > 0;
}
