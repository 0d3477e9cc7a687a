/**
 * The first Goal of a workflow, and a Goal that begins its next segment.
 * Invariant: nothing here needs more than the workflow knows by itself; what needs the worker's configuration is fixed
 * by `open_goal`.
 */
import { NO_USAGE } from '../state/model.js';
import type { GoalStart } from '../state/goal/definition.js';
import type { Goal } from '../state/goal/goal.js';
import type { Counters } from '../state/result.js';
import { FIRST_RULES, knownRules } from '../step/changes.js';

/** Of the state that a goal hands to its next segment. */
const SHAPE = 1;

export interface GoalIdentity {
  readonly goalId: string;
  /** Workflow time of the start, ms since epoch. */
  readonly at: number;
}

export const NO_COUNTERS: Counters = {
  modelCalls: 0,
  turnCount: 0,
  step: 0,
  proposedCalls: 0,
  toolCalls: 0,
  toolAttempts: 0,
  deniedCalls: 0,
  invalidCalls: 0,
  skippedCalls: 0,
  inputRequests: 0,
  notStartedCalls: 0,
  recoveryCount: 0,
  compactions: { proactive: 0, reactive: 0 },
  stopHookReentries: 0,
  fallbacks: 0,
  usage: NO_USAGE,
  costMicroUsd: 0,
  activeMs: 0,
  waitingMs: 0,
};

/** Of a goal that has just begun. */
const NOTHING_YET = {
  shape: SHAPE,
  plan: { revision: 0, open: 0, done: 0, steps: 0 },
  stateHeld: [],
  evidenceDigest: '',
  evidenceCount: 0,
  checks: {},
  judgements: {},
  persons: {},
  unknowns: {},
  proposed: {},
  cycles: 0,
  cyclesBefore: 0,
  passes: 0,
  reviews: 0,
  checkpoints: 0,
  tally: { step: 0, turnCount: 0, counters: NO_COUNTERS },
  money: { spentMicroUsd: 0, reservedMicroUsd: 0, children: 0, newest: [], reviews: 0, judges: 0 },
  streaks: {
    failed: 0,
    noProgress: 0,
    noMeasure: 0,
    blocked: 0,
    progressed: 0,
    starved: false,
    doubt: 0,
  },
  wakeKept: false,
  reviewAsked: false,
  messages: [],
  seenMessageIds: [],
  unread: [],
  feedback: [],
  steeredBy: [],
  asks: [],
  purposes: {},
  closedAsks: [],
  askCount: 0,
  verdicts: [],
  unjudged: [],
  cancelRequested: false,
  unconfirmed: [],
  unprocessed: [],
  outbox: { nextSeq: 0, events: [] },
  inflight: {},
  nextEffect: 1,
  segment: { number: 0, full: false, opened: false },
} as const satisfies Partial<Goal>;

export function openGoal(start: GoalStart, { goalId, at }: GoalIdentity): Goal {
  return {
    ...NOTHING_YET,
    rules: FIRST_RULES,
    tenant: start.tenant ?? 'default',
    runId: goalId,
    traceId: start.traceId ?? goalId,
    ...(start.caller !== undefined && { caller: start.caller }),
    start,
    agent: start.goal.agent,
    phase: 'initializing',
    now: at,
    startedAt: at,
    sinceReview: { cycles: 0, turns: 0, at, costMicroUsd: 0 },
  };
}

export interface NextGoalSegment {
  readonly at: number;
  /** Temporal run id of the segment that ended. */
  readonly previousExecution: string;
}

/** The same goal at the start of a new Temporal execution; its timers must be armed again. */
export function nextGoalSegment(goal: Goal, { at, previousExecution }: NextGoalSegment): Goal {
  return {
    ...goal,
    now: Math.max(goal.now, at),
    previousExecution,
    cyclesBefore: goal.cycles,
    segment: { number: goal.segment.number + 1, full: false, opened: false },
    verdicts: [],
  };
}

/** Throws for a state of a newer release, whose rules or shape this code does not know. */
export function upgradeGoal(goal: Goal): Goal {
  const shape: number = goal.shape;
  if (shape === SHAPE) return { ...goal, rules: knownRules(goal.rules) };
  throw new Error(
    `NotServed: the state of this goal has shape ${shape}, this worker reads shape ${SHAPE}; deploy a newer worker`,
  );
}
