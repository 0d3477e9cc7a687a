/**
 * Goals as people define them: what is wanted, when it is done, and within what. Plain JSON; optional fields have
 * defaults (authoring/goal). Names and defaults: docs/reference/goals.md.
 */
import type { Budget } from '../budget-fields.js';
import type { Settings } from '../settings.js';
import type { ToolRecord } from '../tool.js';
import type { Json } from '../../json/json.js';

export interface GoalDefinition {
  readonly objective: string;
  readonly constraints?: readonly string[];
  /** Name of the agent that works the cycles. */
  readonly agent: string;
  /** Agents that may take the cycles over. */
  readonly handoffTo?: readonly string[];
  readonly done: Done;
  /** Checks that the goal runs itself; at most 20. */
  readonly validation?: readonly CheckDefinition[];
  /** By name; at most 5. */
  readonly judges?: { readonly [name: string]: JudgeDefinition };
  readonly reviewer?: ReviewerDefinition;
  readonly budget: GoalBudget;
  /** Budget and settings of each cycle. */
  readonly cycle?: CycleDefinition;
  /** Least that a cycle may start with; default a tenth of a cycle's money. */
  readonly minCycleMicroUsd?: number;
  /** Set aside for the review and the judges of a pass; default half of a cycle's money, 0 without either. */
  readonly roundMicroUsd?: number;
  /** Default 8,000. */
  readonly briefTokens?: number;
  /** Default after each cycle. */
  readonly reviewEvery?: ReviewEvery;
  /** Default 'continuous'. */
  readonly pace?: Pace;
  readonly approval?: readonly GoalApproval[];
  readonly stopRules?: Partial<StopRules>;
  /** 'latest': each cycle freezes its agent at its own start. */
  readonly agentVersion?: 'latest' | 'pinned';
  /** How long code that no worker serves is waited for; default 7 days. */
  readonly unavailableMs?: number;
  /** How long an ending waits for an open cycle; default 10 min. */
  readonly closeMs?: number;
  /** The longest pause that a cycle or a reviewer may ask for; default 7 days. */
  readonly maxAskedPauseMs?: number;
}

/** At least one condition; no nesting. */
export type Done =
  { readonly all: readonly DoneCondition[] } | { readonly any: readonly DoneCondition[] };

/** What must hold of a value; all that is given. */
export interface Predicate {
  readonly equals?: Json;
  readonly lte?: number;
  readonly gte?: number;
  readonly exists?: boolean;
}

export type DoneCondition =
  | ({ readonly check: string; readonly path?: string } & Predicate)
  | ({ readonly state: string } & Predicate)
  | { readonly plan: 'complete' }
  | { readonly judge: string; readonly rubric: string; readonly atLeast: number }
  | { readonly person: { readonly roles: readonly string[]; readonly question: string } };

export interface CheckDefinition {
  readonly name: string;
  /** Name of a read tool of the worker; default: the check's own name. */
  readonly tool?: string;
  /** Default {}. */
  readonly input?: Json;
  /** Of one run of the check; at most an hour, default a minute. */
  readonly timeoutMs?: number;
  readonly measure?: { readonly path: string; readonly better: 'higher' | 'lower' };
}

export interface JudgeDefinition {
  /** Default: the agent's model. */
  readonly model?: string;
  readonly instructions?: string;
}

export interface ReviewerDefinition extends JudgeDefinition {
  /** Who is asked when the reviewer wants an approval; default: those of `every_cycle`. */
  readonly roles?: readonly string[];
}

export interface GoalBudget {
  readonly maxCostMicroUsd: number;
  /** Default 100. */
  readonly maxCycles?: number;
  /** Wall time since the start, everything included; default none. */
  readonly deadlineMs?: number;
  readonly maxModelCalls?: number;
  readonly maxToolCalls?: number;
  readonly maxInputTokens?: number;
  readonly maxOutputTokens?: number;
  /** A person cannot raise the money above this; default the budget. */
  readonly hardMaxCostMicroUsd?: number;
  /** Default 'stop'. */
  readonly onBudget?: 'stop' | 'ask';
  /** Who may change the budget; none: anybody but the starter. */
  readonly budgetRoles?: readonly string[];
}

export type CycleDefinition = Partial<Omit<Budget, never>> & Partial<Settings>;

export interface ReviewEvery {
  readonly cycles?: number;
  readonly turns?: number;
  readonly minutes?: number;
  readonly costMicroUsd?: number;
}

export type Pace =
  | 'continuous'
  | 'when_woken'
  | { readonly everyMs: number }
  | { readonly cron: string; readonly timezone: string };

export const APPROVAL_POINTS = ['first_cycle', 'every_cycle', 'plan_change', 'handoff'] as const;
export type ApprovalPoint = (typeof APPROVAL_POINTS)[number];

export interface GoalApproval {
  readonly before: ApprovalPoint;
  readonly roles: readonly string[];
  /** Default 1. */
  readonly quorum?: number;
  /** Default 7 days. */
  readonly expiresInMs?: number;
  /** 'reject': as a refusal; 'stop' (default): the goal ends. */
  readonly onExpiry?: 'reject' | 'stop';
}

export interface StopRules {
  readonly objectiveInvalid: 'needs_human' | 'completed';
  readonly noProgressCycles: number;
  readonly failedCycles: number;
  readonly blockedCycles: number;
  readonly noMeasureCycles: number;
  /** 'ask': a person may allow as many more cycles. */
  readonly onStuck: 'stop' | 'ask';
}

export const DEFAULT_STOP_RULES: StopRules = {
  objectiveInvalid: 'needs_human',
  noProgressCycles: 3,
  failedCycles: 3,
  blockedCycles: 3,
  noMeasureCycles: 9,
  onStuck: 'stop',
};

/** The tool of a check as it was when the goal was opened. */
export type FrozenTool = Pick<ToolRecord, 'name' | 'version' | 'schemaHash' | 'effect'>;

export interface StoredCheck extends CheckDefinition {
  readonly frozen: FrozenTool;
}

/** The definition as it lies in the store. */
export interface StoredDefinition extends Omit<GoalDefinition, 'validation'> {
  readonly validation?: readonly StoredCheck[];
}

/** The argument of the workflow `goalRun`. */
export interface GoalStart {
  readonly v: 1;
  readonly goal: GoalDefinition;
  readonly tenant?: string;
  readonly traceId?: string;
  /** Who starts the goal: decides nothing in it. */
  readonly caller?: string;
  /** Id of the starter's store: the goal is opened with this one alone. */
  readonly store?: string;
  /** The goal that this one goes on with. */
  readonly from?: { readonly goalId: string; readonly checkpoint?: string };
}
