/**
 * What is fixed of a goal when it is opened, as far as its decisions need it: numbers, names and kinds. Texts (objective,
 * rubrics, inputs of checks) are in the definition, which lies in the store under `definition`.
 */

import type { Budget, Limit } from '../budget-fields.js';
import type { ModelRoute } from '../model.js';
import type { GoalApproval, Pace, ReviewEvery, StopRules } from './definition.js';

export interface GoalTerms {
  /** Hash of the normalised definition in the store. */
  readonly definition: string;
  /** Of conditions, checks, judges, objective and constraints; what was decided by another one is a note. */
  readonly revision: number;
  /** The first PREVIEW_CHARS characters. */
  readonly objective: string;
  readonly agent: string;
  /** Of a pinned agent. */
  readonly agentVersion?: string;
  readonly handoffTo: readonly string[];
  readonly done: { readonly mode: 'all' | 'any'; readonly conditions: readonly ConditionTerm[] };
  readonly checks: readonly CheckTerm[];
  readonly judges: readonly JudgeTerm[];
  readonly reviewer?: ReviewerTerm;
  readonly budget: GoalLimits;
  readonly cycle: CycleTerms;
  readonly roundMicroUsd: number;
  readonly briefTokens: number;
  readonly reviewEvery: ReviewEvery;
  readonly pace: Pace;
  readonly approval: readonly Required<GoalApproval>[];
  readonly stopRules: StopRules;
  readonly unavailableMs: number;
  readonly closeMs: number;
  readonly maxAskedPauseMs: number;
  /** Whoever says something must prove who they are. */
  readonly requireProof: boolean;
  /** Of the policy that asks of the goal are bound to. */
  readonly policyVersion: string;
  readonly versions: { readonly [name: string]: string };
}

export type ConditionTerm =
  | { readonly kind: 'check'; readonly name: string }
  | { readonly kind: 'state'; readonly path: string }
  | { readonly kind: 'plan' }
  | { readonly kind: 'judge'; readonly name: string; readonly atLeast: number }
  | { readonly kind: 'person'; readonly roles: readonly string[]; readonly question: string };

export interface CheckTerm {
  readonly name: string;
  readonly tool: string;
  readonly timeoutMs: number;
  readonly better?: 'higher' | 'lower';
  /** Task queue of the workers that have its tool, as it was opened; absent: that of the goal (checksQueued). */
  readonly queue?: string;
}

/** A model that is asked for structured output. */
export interface JudgeTerm {
  readonly name: string;
  readonly route: ModelRoute;
  readonly maxTokens: number;
}

export interface ReviewerTerm extends JudgeTerm {
  readonly roles: readonly string[];
}

export interface GoalLimits {
  readonly maxCostMicroUsd: number;
  readonly hardMaxCostMicroUsd: number;
  readonly maxCycles: number;
  /** ms since the start. */
  readonly deadlineMs: Limit;
  readonly maxModelCalls: Limit;
  readonly maxToolCalls: Limit;
  readonly maxInputTokens: Limit;
  readonly maxOutputTokens: Limit;
  readonly onBudget: 'stop' | 'ask';
  readonly budgetRoles: readonly string[];
}

export interface CycleTerms {
  readonly maxCostMicroUsd: number;
  readonly minCostMicroUsd: number;
  readonly maxModelCalls: Limit;
  readonly maxToolCalls: Limit;
  readonly maxInputTokens: Limit;
  readonly maxOutputTokens: Limit;
}

/** The limits of a cycle that the goal gives it. */
export type Slice = Pick<
  Budget,
  'maxModelCalls' | 'maxToolCalls' | 'maxInputTokens' | 'maxOutputTokens'
> & { readonly maxCostMicroUsd: number };

/** What an ask of a goal is for. */
export type AskPurpose =
  | { readonly kind: 'person'; readonly condition: number }
  | { readonly kind: 'cycle'; readonly n: number }
  | { readonly kind: 'plan_change' }
  | { readonly kind: 'handoff'; readonly to: string }
  | { readonly kind: 'review' }
  | { readonly kind: 'budget'; readonly field: GoalBudgetField; readonly amount: number }
  | { readonly kind: 'stuck'; readonly row: 'blocked' | 'failed' | 'no_progress' }
  | { readonly kind: 'unknown'; readonly who: string }
  | { readonly kind: 'doubt' };

/** Budgets of a goal that a person can raise; the deadline is none of them. */
export const GOAL_BUDGET_FIELDS = [
  'maxCostMicroUsd',
  'maxCycles',
  'maxModelCalls',
  'maxToolCalls',
  'maxInputTokens',
  'maxOutputTokens',
] as const;
export type GoalBudgetField = (typeof GOAL_BUDGET_FIELDS)[number];
