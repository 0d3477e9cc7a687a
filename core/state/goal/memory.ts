/**
 * What a goal remembers beside its counts: plan, published state, notes, progress. One content-addressed text in the
 * store, which activities fold (pure/goal); the goal has its hash. Types alone.
 * Invariants: each list is bounded (MEMORY_LIMITS); a step is done only with evidence that existed.
 */
import type { Json } from '../../json/json.js';

export const MEMORY_LIMITS = {
  steps: 100,
  stepIdChars: 64,
  titleChars: 200,
  noteChars: 500,
  evidenceIds: 10,
  /** Published paths. */
  paths: 64,
  stateBytes: 32 * 1024,
  /** Of one cycle. */
  notes: 50,
  /** Kept of all cycles. */
  notesKept: 200,
  logKept: 200,
  /** Of each check. */
  measurementsKept: 100,
  reviewsKept: 50,
  childrenKept: 50,
  checkResultsKept: 20,
} as const;

export type StepStatus = 'open' | 'doing' | 'done' | 'dropped';

export interface PlanStep {
  readonly id: string;
  readonly title: string;
  readonly status: StepStatus;
  readonly note?: string;
  /** With 'done': what proves it. */
  readonly evidence?: readonly string[];
  /** Who wrote it last: 'agent', 'reviewer', or a person's name. */
  readonly by: string;
  /** A person wrote it: only people change or drop it; work may mark it done. */
  readonly byPerson?: true;
  /** It was done once, which was progress; it is none a second time. */
  readonly counted?: true;
}

export interface Plan {
  /** Raised by every change. */
  readonly revision: number;
  readonly steps: readonly PlanStep[];
}

export interface PublishedValue {
  readonly value: Json;
  readonly cycle: number;
}

export interface Note {
  readonly cycle: number;
  readonly by: string;
  readonly text: string;
  readonly evidence?: readonly string[];
  /** Kept of a proposal that came too late to count. */
  readonly superseded?: true;
}

/** One entry of the progress log. */
export interface LogEntry {
  readonly at: number;
  readonly cycle: number;
  readonly kind: 'cycle' | 'check' | 'progress' | 'review' | 'note' | 'person';
  readonly text: string;
  readonly evidence?: readonly string[];
}

export interface Measurement {
  readonly at: number;
  readonly cycle: number;
  readonly value: number;
}

export interface ReviewRecord {
  readonly n: number;
  readonly at: number;
  readonly cycle: number;
  readonly answers: ReviewAnswers;
  readonly decision: string;
}

export const REVIEW_QUESTIONS = [
  'objective_valid',
  'progress',
  'within_budget',
  'done',
  'approval_needed',
  'compact_or_handoff',
] as const;
export type ReviewQuestion = (typeof REVIEW_QUESTIONS)[number];

export interface ReviewAnswer {
  readonly answer: string;
  readonly because: string;
  readonly evidence: readonly string[];
}

export type ReviewAnswers = { readonly [question in ReviewQuestion]: ReviewAnswer };

export interface ChildRecord {
  readonly n: number;
  readonly runId: string;
  readonly agent: string;
  readonly stopReason: string;
  readonly detail?: string;
  readonly costMicroUsd: number;
}

export interface CheckResult {
  /** Of evidence. */
  readonly id: string;
  /** Hash of the result. */
  readonly digest: string;
}

export interface GoalMemory {
  readonly v: 1;
  readonly plan: Plan;
  readonly state: { readonly [path: string]: PublishedValue };
  readonly notes: readonly Note[];
  readonly log: readonly LogEntry[];
  readonly measurements: { readonly [check: string]: readonly Measurement[] };
  readonly reviews: readonly ReviewRecord[];
  readonly children: readonly ChildRecord[];
  /** Ids of evidence, newest last, that judges and reviewers are shown; bounded as `logKept`. */
  readonly evidence: readonly string[];
  /**
   * The newest results of checks: the events that say the same may still be on their way. None in a memory of an older
   * release.
   */
  readonly checkResults?: readonly CheckResult[];
  /** Of goals that this one goes on with: their evidence is valid as `<goal>#<id>`. */
  readonly ancestors: readonly string[];
}
