/**
 * Payloads of the activities that work for a goal.
 * Invariant: they carry references, never texts of the goal's memory (their limits: json.ts).
 */
import type { CheckFacts, Judgement, PlanFacts, ProgressItem, Steer } from './facts.js';
import type { DeskKey } from '../statement.js';
import type { AttemptBound, Usage } from '../model.js';
import type { Counters, RunStatus, StopReason } from '../result.js';
import type { StartInput } from '../task.js';
import type { Acknowledged, EventBatch, NeedsCode, RunRef, StoreRef } from '../payloads/payload.js';
import type { ModelRetries, SpendingLeft } from '../payloads/model-payloads.js';
import type { StoredText } from '../../json/json.js';
import type { GoalStart } from './definition.js';
import type { ReviewAnswers } from './memory.js';
import type { GoalMessage } from './message.js';
import type { BlockKind } from './proposal.js';
import type { GoalTerms, JudgeTerm, Slice } from './terms.js';

export type * from './facts.js';

interface OfGoal extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
}

/** What an activity needs to read of a goal. */
interface OfOpenGoal extends OfGoal {
  /** Hashes of texts in the store. */
  readonly definition: string;
  readonly memory: string;
}

export interface OpenGoalInput extends OfGoal {
  readonly segment: number;
  /** First segment only. */
  readonly start?: GoalStart;
  /** Later segments: the Temporal run id of the closed segment, whose history is archived. */
  readonly previousExecution?: string;
}

export interface OpenGoalOutput extends Acknowledged {
  readonly rules: number;
  /** First segment only. */
  readonly terms?: GoalTerms;
  readonly memory?: string;
  readonly plan?: PlanFacts;
  readonly stateHeld?: readonly number[];
  /** Of the goal that this one goes on with. */
  readonly bests?: { readonly [check: string]: number };
  readonly store?: StoreRef;
  readonly deskKeys?: readonly DeskKey[];
}

/** Composes the brief of a cycle; with `register` the child's row is written. */
export interface PrepareCycleInput extends OfOpenGoal {
  readonly n: number;
  readonly child: string;
  readonly agent: string;
  readonly agentVersion?: string;
  readonly slice: Slice;
  readonly briefTokens: number;
  readonly reads: readonly Steer[];
  readonly feedback: readonly string[];
  readonly checks: { readonly [name: string]: CheckFacts };
  readonly register: boolean;
  /** Digest of the brief that a person approved. */
  readonly approved?: string;
  /** How long the child waits for code that nobody serves, ms. */
  readonly unservedMs: number;
}

export interface PrepareCycleOutput extends Acknowledged {
  readonly brief: {
    readonly hash: string;
    readonly digest: string;
    /** Estimated, by section. */
    readonly tokens: number;
    readonly sections: { readonly [section: string]: number };
  };
  /** The child's argument: its task lies in the store. */
  readonly start: StartInput;
  /** The id belongs to another parent. */
  readonly taken?: true;
  /** The child began before a reset, with another brief: `brief` and `start` are those, and it is read, not run. */
  readonly begun?: true;
  /** With `begun`: which of `reads` that brief does not have, by their places. */
  readonly unheard?: readonly number[];
}

/** Reads the outcome of a cycle and, when there is one, applies what the cycle proposed. */
export interface CloseCycleInput extends OfOpenGoal {
  readonly n: number;
  readonly child: string;
  readonly agent: string;
  /** Changes of the plan wait for a person. */
  readonly holdPlan: boolean;
  readonly handoffTo: readonly string[];
  readonly maxAskedPauseMs: number;
  /** No outcome will be waited for: without one the child is lost. */
  readonly last: boolean;
  readonly slice: Slice;
}

export interface CycleOutcome {
  readonly status: RunStatus;
  readonly stopReason: StopReason;
  readonly detail?: string;
  readonly costMicroUsd: number;
  readonly counters: Counters;
  /** A reply to a request came. */
  readonly replied: boolean;
  /** Effects whose end nobody knows. */
  readonly doubt: number;
  /** Nobody knows how it ended: the whole slice is billed. */
  readonly unconfirmed?: true;
  /** Its code was served by nobody for too long. */
  readonly unserved?: true;
}

export interface CloseCycleOutput extends Acknowledged {
  /** Absent: the child goes on. */
  readonly outcome?: CycleOutcome;
  /** The child waits for a person or for a timer alone. */
  readonly waiting?: boolean;
  /** With an outcome: */
  readonly memory?: string;
  readonly plan?: PlanFacts;
  /** Its plan in place of that of `memory`, once a person approves. */
  readonly held?: { readonly memory: string; readonly facts: PlanFacts };
  readonly planChange?: {
    readonly by: string;
    readonly added: number;
    readonly dropped: number;
    readonly renamed: number;
    readonly done: readonly string[];
  };
  readonly stateHeld?: readonly number[];
  readonly evidenceDigest?: string;
  readonly evidenceCount?: number;
  readonly progress?: readonly ProgressItem[];
  readonly proposedDone?: boolean;
  readonly handoff?: { readonly to: string; readonly because: string };
  readonly pause?: { readonly until: number; readonly because: string };
  readonly block?: { readonly kind: BlockKind; readonly step?: string; readonly because: string };
  /** Told as warnings: unknown evidence ids, proposals that came too late. */
  readonly warnings?: readonly string[];
}

/** Runs one check: twice at most, when the first result is none. */
export interface RunCheckInput extends OfOpenGoal, NeedsCode {
  readonly name: string;
  /** Number of this run of the check, from 1. */
  readonly n: number;
  readonly timeoutMs: number;
}

export interface RunCheckOutput extends Acknowledged {
  readonly known: boolean;
  /** Conditions that the result meets, by their index. */
  readonly held: readonly number[];
  readonly value?: number;
  readonly digest?: string;
  /** Why it is not known. */
  readonly because?: string;
  /** Its tool is served with another schema than was frozen: both hashes. */
  readonly changed?: readonly [string, string];
}

/** Asks a model for a judgement or a review. */
export interface AskJudgeInput extends OfOpenGoal, NeedsCode {
  readonly who: 'judge' | 'reviewer';
  readonly name: string;
  /** Of the condition that is judged. */
  readonly condition?: number;
  /** Number of this question in the goal, from 1. */
  readonly number: number;
  readonly term: JudgeTerm;
  /** Of one request: no question is longer than its `inputTokens` bytes. */
  readonly bound: AttemptBound;
  readonly left: SpendingLeft;
  readonly maxRetries: ModelRetries;
  readonly checks: { readonly [name: string]: CheckFacts };
  /** What was computed of the six answers. */
  readonly computed?: ReviewAnswers;
  readonly handoffTo: readonly string[];
}

export interface AskJudgeOutput extends Acknowledged {
  readonly judgement?: Omit<Judgement, 'digest'> & { readonly because: StoredText };
  readonly review?: {
    readonly objectiveValid?: boolean;
    readonly because: StoredText;
    readonly approvalNeeded?: boolean;
    readonly handoff?: string;
    readonly pauseMs?: number;
    readonly evidence: readonly string[];
    /** The reviewer's plan is folded: */
    readonly memory?: string;
    readonly plan?: PlanFacts;
  };
  /** Ids that were cited and are none of the list: they count as none. */
  readonly unknown?: readonly string[];
  /** Absent with `judgement` and `review`: no valid output. */
  readonly invalid?: string;
  readonly costMicroUsd: number;
  readonly usage: Usage;
  readonly calls: number;
}

/** Folds what the pass found into the memory and stores a checkpoint. */
export interface SaveCheckpointInput extends OfOpenGoal {
  readonly n: number;
  readonly cycle: number;
  readonly at: number;
  readonly checks: { readonly [name: string]: CheckFacts };
  readonly progress: readonly ProgressItem[];
  readonly child?: {
    readonly runId: string;
    readonly agent: string;
    readonly stopReason: string;
    readonly detail?: string;
    readonly costMicroUsd: number;
  };
  readonly review?: {
    readonly n: number;
    readonly answers: ReviewAnswers;
    readonly decision: string;
  };
  readonly facts: { readonly [name: string]: number };
  /** Hash of the memory with a changed plan that waits for a person. */
  readonly held?: string;
}

export interface SaveCheckpointOutput extends Acknowledged {
  readonly checkpoint: string;
  readonly memory: string;
  /** With `held`: the same plan, in what the goal remembers now. */
  readonly held?: string;
}

/** Stores what a person said; a plan is folded into the memory. */
export interface TakeMessageInput extends OfOpenGoal {
  readonly message: GoalMessage;
}

export interface TakeMessageOutput extends Acknowledged {
  readonly text?: StoredText;
  readonly memory?: string;
  readonly plan?: PlanFacts;
  /** What is wrong with it. */
  readonly refused?: {
    readonly reason: 'malformed' | 'stale_plan' | 'not_applicable';
    readonly message: string;
  };
}

/** The next time of a cron line. */
export interface FindTickInput extends OfGoal {
  readonly cron: string;
  readonly timezone: string;
  /** ms since epoch; the tick is later. */
  readonly after: number;
}

export interface FindTickOutput extends Acknowledged {
  /** ms since epoch; null: there is none. */
  readonly at: number | null;
}

/** The activities of goals by their types: what goes in, and what comes out. */
export interface GoalActivityPayloads {
  open_goal: { input: OpenGoalInput; output: OpenGoalOutput };
  prepare_cycle: { input: PrepareCycleInput; output: PrepareCycleOutput };
  close_cycle: { input: CloseCycleInput; output: CloseCycleOutput };
  run_check: { input: RunCheckInput; output: RunCheckOutput };
  ask_judge: { input: AskJudgeInput; output: AskJudgeOutput };
  save_checkpoint: { input: SaveCheckpointInput; output: SaveCheckpointOutput };
  take_message: { input: TakeMessageInput; output: TakeMessageOutput };
  find_tick: { input: FindTickInput; output: FindTickOutput };
}
