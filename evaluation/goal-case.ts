/** A case of a goal as engines get it: its definition, and the scripts of everybody who plays in it. */
import type { GoalDefinition } from '../core/state/goal/definition.js';
import type { ProposedStep } from '../core/state/goal/proposal.js';
import type { Usage } from '../core/state/model.js';
import type { Script, ScriptedResult } from './script.js';

export interface CaseGoal {
  /** As it was written, defaults of the format applied: what is wrong with it is for the runtime to say. */
  readonly definition: GoalDefinition;
  /** By check, one entry for each of its runs; the last one repeats. */
  readonly checks: ReadonlyMap<string, readonly ScriptedResult[]>;
  /** In order, the last one repeats; empty: each agent plays its own script. */
  readonly cycles: readonly CaseCycle[];
  /** In order, the last one repeats. */
  readonly reviews: readonly ScriptedReview[];
  /** By judge, in order, the last one repeats. */
  readonly judges: ReadonlyMap<string, readonly ScriptedJudgement[]>;
}

export interface CaseCycle {
  readonly model: Script;
  /** Who must have worked it. */
  readonly agent?: string;
}

export type ScriptedReview =
  | { readonly kind: 'error'; readonly message: string }
  | {
      readonly kind: 'review';
      readonly objectiveValid: boolean;
      readonly because: string;
      readonly evidence: readonly string[];
      readonly approvalNeeded?: boolean;
      readonly handoff?: string;
      readonly plan?: readonly ProposedStep[];
      /** As models write it: `12h`. */
      readonly pause?: string;
      readonly usage: Usage;
    };

export type ScriptedJudgement =
  | { readonly kind: 'error'; readonly message: string }
  | {
      readonly kind: 'judgement';
      readonly score: number;
      readonly because: string;
      readonly evidence: readonly string[];
      readonly usage: Usage;
    };

/** What people say to a goal. */
export type GoalAction =
  | { readonly kind: 'steer'; readonly text: string }
  | { readonly kind: 'pause' | 'resume' | 'wake' | 'stop' }
  | { readonly kind: 'review'; readonly objectiveValid?: boolean; readonly because?: string }
  | { readonly kind: 'setBudget'; readonly budget: { readonly [field: string]: number } }
  | { readonly kind: 'setPlan'; readonly steps: readonly ProposedStep[] };

export const GOAL_ACTIONS = [
  'steer',
  'pause',
  'resume',
  'wake',
  'review',
  'stop',
  'setBudget',
  'setPlan',
] as const satisfies readonly GoalAction['kind'][];

/** What a run of a check comes to, from 1; undefined: it has no script. */
export function checkResultOf(
  { checks }: CaseGoal,
  name: string,
  run: number,
): ScriptedResult | undefined {
  const results = checks.get(name);
  return results?.[run - 1] ?? results?.at(-1);
}

export function inTurn<T>(entries: readonly T[], number: number): T | undefined {
  return entries[Math.min(number, entries.length) - 1];
}
