/**
 * Goal: everything that decides about one goal. Plain JSON, small; carried whole over continue-as-new.
 * Invariants:
 *  L1 At rest at most GOAL_BYTES_MAX as JSON, whatever its age: counts, ids, digests and references. Plan, state, notes
 *     and progress are the memory in the store, of which the goal has the hash.
 *  L2 At most one of `cycle` and `pass` is there; none starts when `ending` is there.
 *  L3 Only `end` (goal/ending.ts) sets `ending`.
 */
import type {
  ChangedPlan,
  CheckFacts,
  Judgement,
  PlanFacts,
  ProgressItem,
  Steer,
} from './facts.js';
import type { Ask, Decided, Decision, Verdict } from '../ask.js';
import type { Carrier } from '../carrier.js';
import type { WatchedChild } from '../child.js';
import type { DeskKey } from '../statement.js';
import type { Phase } from '../event.js';
import type { Failure } from '../failure.js';
import type { Counters, RunResult, StopReason } from '../result.js';
import type { KnownStore } from '../run-parts.js';
import type { StartInput } from '../task.js';
import type { GoalStart } from './definition.js';
import type { GoalMessage, MessageVerdict } from './message.js';
import type { ReviewAnswers } from './memory.js';
import type { AskJudgeOutput } from './payloads.js';
import type { AskPurpose, GoalTerms, Slice } from './terms.js';

export type * from './facts.js';

export const GOAL_BYTES_MAX = 32 * 1024;

export interface Goal extends Carrier {
  readonly shape: 1;
  readonly tenant: string;
  /** Of the goal: its workflow id, as that of a run. */
  readonly runId: string;
  readonly traceId: string;
  readonly caller?: string;
  /** Until it is opened. */
  readonly start?: GoalStart;
  /** Absent until it is opened. */
  readonly terms?: GoalTerms;
  /** Agent that works the next cycle. */
  readonly agent: string;
  readonly phase: Phase;
  readonly startedAt: number;
  /** Hash of the memory in the store; absent until it is opened. */
  readonly memory?: string;
  readonly plan: PlanFacts;
  /** Conditions on the published state that hold, by their index. */
  readonly stateHeld: readonly number[];
  /** Digest of the evidence and of the published state. */
  readonly evidenceDigest: string;
  readonly evidenceCount: number;
  readonly checks: { readonly [name: string]: CheckFacts };
  /** By the index of the condition. */
  readonly judgements: { readonly [condition: string]: Judgement };
  readonly persons: { readonly [condition: string]: PersonAnswer };
  /** Invalid answers in a row, by `reviewer` or `judge:<name>`. */
  readonly unknowns: { readonly [who: string]: number };
  readonly cycle?: OpenCycle;
  /** The brief that the next cycle would get, where somebody approves it before. */
  readonly draft?: { readonly n: number; readonly digest: string; readonly hash: string };
  readonly pass?: Pass;
  readonly ending?: Ending;
  /** What cycles or reviewers proposed and nobody has acted on yet. */
  readonly proposed: Proposed;
  /** Cycles so far, the open one included; and when the segment began. */
  readonly cycles: number;
  readonly cyclesBefore: number;
  readonly passes: number;
  readonly reviews: number;
  readonly checkpoints: number;
  /** Hash of the newest checkpoint. */
  readonly checkpoint?: string;
  readonly tally: GoalTally;
  readonly money: GoalMoney;
  readonly streaks: Streaks;
  readonly sinceReview: SinceReview;
  readonly lastCycleStart?: number;
  readonly sleep?: Sleep;
  /** A person holds the goal. */
  readonly paused?: { readonly by: string };
  /** A wake came while anything was open: the next sleep ends at once. */
  readonly wakeKept: boolean;
  /** The next cycle is another one than was approved. */
  readonly approvalStale?: boolean;
  /** A pass has ended, or people have refused: the rows are not looked at yet. */
  readonly passed?: true;
  /** A review was asked for. */
  readonly reviewAsked: boolean;
  /** Received and not yet heeded, oldest first. */
  readonly messages: readonly HeldMessage[];
  /** Digests of the newest ids, and beside them their times; ms by the clocks of their senders. */
  readonly seenMessageIds: readonly string[];
  readonly seenTimes?: readonly number[];
  /** Of messages that are as old the ids are forgotten: none counts. */
  readonly seenUpTo?: number;
  /** What people said and no cycle has read, oldest first. */
  readonly unread: readonly Steer[];
  /** Refusals and reasons that the next brief tells, oldest first. */
  readonly feedback: readonly string[];
  /** A person's standing word on the objective. */
  readonly objectiveValid?: { readonly valid: boolean; readonly by: string };
  /** Whoever steered since the last cycle: decides nothing in it. */
  readonly steeredBy: readonly string[];
  readonly asks: readonly Ask[];
  readonly purposes: { readonly [askId: string]: AskPurpose };
  readonly closedAsks: readonly ({ readonly id: string } & Decided)[];
  readonly askCount: number;
  readonly verdicts: readonly {
    readonly ticket: string;
    readonly verdict: Verdict | MessageVerdict;
  }[];
  /** Decisions and messages that wait for keys which are fetched. */
  readonly unjudged: readonly Unjudged[];
  readonly deskKeys?: readonly DeskKey[];
  /** Signatures verified in one moment. */
  readonly proofs?: { readonly at: number; readonly count: number };
  readonly store?: KnownStore;
  readonly cancelRequested: boolean;
  readonly deadlineTimer?: string;
  readonly previousExecution?: string;
  readonly notOpened?: Failure;
  /** Of the time that an ending leaves to `open_goal`. */
  readonly openingTimer?: string;
  /** Children whose end nobody could confirm. */
  readonly unconfirmed: readonly string[];
  readonly unprocessed: readonly string[];
  readonly shownStatus?: string;
  readonly final?: GoalFinal;
}

export type OpenGoal = Goal & { readonly terms: GoalTerms; readonly memory: string };

export function isOpenGoal(goal: Goal): goal is OpenGoal {
  return goal.terms !== undefined && goal.memory !== undefined;
}

export type GoalFinal =
  | { readonly kind: 'result'; readonly result: RunResult }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  | { readonly kind: 'continue_as_new' };

export interface PersonAnswer {
  readonly answer: 'yes' | 'no';
  readonly by: string;
  readonly askId: string;
  /** Cycles with progress when it was given. */
  readonly progressed: number;
}

export interface OpenCycle extends WatchedChild {
  readonly n: number;
  readonly agent: string;
  readonly slice: Slice;
  readonly startedAt: number;
  /** Its brief, once prepared. */
  readonly brief?: { readonly hash: string; readonly digest: string; readonly tokens: number };
  /** Messages of people that are in the brief. */
  readonly reads: readonly Steer[];
  /** It ran before a reset: what its brief was told is settled. */
  readonly begun?: true;
  /** Of a cycle that people approved, until it is started: what its beginning has ended. */
  readonly before?: Pick<Goal, 'sleep' | 'lastCycleStart'>;
  /** Effect of the stage. */
  readonly effect?: string;
  /** Of the child, until it is started. */
  readonly input?: StartInput;
}

/** Where a pass is; later ones need the earlier ones. */
export type PassStep =
  'validate' | 'progress' | 'judge' | 'note' | 'review' | 'rows' | 'checkpoint';

export interface Pass {
  readonly reason: 'baseline' | 'cycle' | 'answer' | 'review';
  readonly step: PassStep;
  /** Checks that are not started yet. */
  readonly toCheck: readonly string[];
  /** Checks under way, by effect id. */
  readonly checking: { readonly [effectId: string]: string };
  /** Judge or reviewer under way. */
  readonly asking?: {
    readonly effectId: string;
    readonly who: string;
    readonly condition?: number;
    readonly reservedMicroUsd: number;
  };
  /** What the reviewer said. */
  readonly answered?: NonNullable<AskJudgeOutput['review']> | 'invalid';
  /** The row that would end the goal. */
  readonly row?: EndingRow;
  readonly reviewed: boolean;
  /** What its questions have cost. */
  readonly askedMicroUsd: number;
  /** What the cycle brought. */
  readonly progress: readonly ProgressItem[];
  /** The cycle that the pass follows. */
  readonly closed?: ClosedCycle;
  /** The review of this pass, for its checkpoint. */
  readonly review?: {
    readonly n: number;
    readonly answers: ReviewAnswers;
    readonly decision: string;
  };
  readonly saving?: string;
}

export interface ClosedCycle {
  readonly n: number;
  readonly runId: string;
  readonly agent: string;
  readonly stopReason: StopReason;
  readonly detail?: string;
  readonly costMicroUsd: number;
  readonly unconfirmed?: true;
}

export interface EndingRow {
  readonly row: RowName;
  readonly reason: StopReason;
  readonly detail?: string;
}

export type RowName =
  | 'cancel'
  | 'stop'
  | 'done'
  | 'objective_invalid'
  | 'tool_unavailable'
  | 'approval'
  | 'deadline'
  | 'money'
  | 'tokens'
  | 'calls'
  | 'cycles'
  | 'blocked'
  | 'failed'
  | 'no_progress'
  | 'plan_exhausted'
  | 'handed_off'
  | 'failure';

export interface Ending extends EndingRow {
  /** The child was looked at, to learn whether it waits for people alone. */
  readonly looked?: true;
  /** The child was told, or is waited for. */
  readonly told?: boolean;
  /** When Temporal is asked for the child, ms since epoch, and its timer. */
  readonly timer?: string;
  readonly overdue?: boolean;
  /** `stop` and `goal_result` were emitted. */
  readonly result?: RunResult;
}

export interface Proposed {
  readonly done?: boolean;
  readonly handoff?: { readonly to: string; readonly by: string; readonly because: string };
  /** ms since epoch. */
  readonly pauseUntil?: number;
  readonly pauseBecause?: string;
  /** It waits for its approval. */
  readonly plan?: ChangedPlan;
  /** The reviewer wants a person's word before the next step. */
  readonly approval?: string;
  readonly approvalRow?: 'rejected' | 'timeout';
  /** Nobody wants more than the row that ends the goal. */
  readonly declined?: boolean;
  /** Approved for the cycle with this number and brief. */
  readonly approved?: { readonly n: number; readonly digest: string };
}

export interface GoalTally {
  /** For stamps: the newest cycle and the newest pass. */
  readonly step: number;
  readonly turnCount: number;
  /** Sums of cycles, reviews and judges. */
  readonly counters: Counters;
}

export interface GoalMoney {
  readonly spentMicroUsd: number;
  /** Of the open cycle and of what is asked of reviewer and judges. */
  readonly reservedMicroUsd: number;
  readonly children: number;
  /** Of the newest cycles, at most FORECAST_CYCLES of them. */
  readonly newest: readonly number[];
  readonly reviews: number;
  readonly judges: number;
  /** Of reviews and judges: as much as events have told. Absent: nothing. */
  readonly toldMicroUsd?: number;
}

export interface Streaks {
  readonly failed: number;
  readonly failedBecause?: string;
  readonly noProgress: number;
  /** Cycles in a row with progress, of which none was a measurement. */
  readonly noMeasure: number;
  readonly blocked: number;
  readonly blockedBy?: string;
  /** Cycles with progress so far. */
  readonly progressed: number;
  /** The newest cycle ended at its money without a request. */
  readonly starved: boolean;
  /** Effects whose end nobody knows. */
  readonly doubt: number;
  /** Code that nobody serves was waited for in vain. */
  readonly unserved?: string;
}

export interface SinceReview {
  readonly cycles: number;
  readonly turns: number;
  readonly at: number;
  readonly costMicroUsd: number;
}

export interface Sleep {
  /** ms since epoch; absent: until it is woken. */
  readonly until?: number;
  readonly because: string;
  readonly timer?: string;
  readonly since: number;
  /** The next tick is looked up, or was. */
  readonly asking?: string;
  readonly found?: boolean;
  /** It is the hold of a pause: `resume` ends it. */
  readonly held?: true;
  readonly over?: boolean;
}

export interface HeldMessage {
  readonly message: GoalMessage;
  readonly ticket?: string;
  readonly proven: boolean;
  /** Effect that folds or stores it. */
  readonly effect?: string;
}

export interface Unjudged {
  readonly decision?: Decision;
  readonly message?: GoalMessage;
  readonly ticket?: string;
  readonly at: number;
}
