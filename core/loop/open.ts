/**
 * The first Run of a workflow, and a Run that begins its next segment.
 * Invariants: nothing here needs more than the workflow knows by itself; what needs the worker's
 * configuration is frozen by `open_run`.
 */
import { elapse } from '../step/clock.js';
import { contextAtFirst } from '../step/conversation.js';
import { NO_USAGE } from '../state/model.js';
import { FIRST_RULES, follows, knownRules } from '../step/changes.js';
import { isTriedWithin } from './open-within.js';
import { shownAtStart } from '../step/showing.js';
import type { Run, Tally } from '../state/run.js';
import type { Showing } from '../state/showing.js';
import type { StartInput } from '../state/task.js';

/** Of the state that a run hands to its next segment. */
const SHAPE = 1;

export interface Identity {
  readonly runId: string;
  /** Workflow time of the start, ms since epoch. */
  readonly at: number;
  /** The newest rules that the code knows which decides the first step; absent: that code does not say. */
  readonly rules?: number | undefined;
  /** When Temporal took the start, ms since epoch; absent: nobody says. */
  readonly takenAt?: number;
  /** What the server gives a task, ms; absent: nobody says. */
  readonly taskMs?: number;
  /** What the start itself has shown to the outside. */
  readonly shown?: Showing;
}

const NOTHING_COUNTED: Tally = {
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
  emptyRetries: 0,
  pauseResumes: 0,
  evidenceRejections: 0,
  criteriaRejections: 0,
  outputRetries: 0,
  stopHookReentries: 0,
  fallbacks: 0,
  usage: NO_USAGE,
};

export function open(start: StartInput, identity: Identity): Run {
  return {
    shape: SHAPE,
    rules: FIRST_RULES,
    ...(identity.rules !== undefined && { begunWith: identity.rules }),
    ...(isTriedWithin(start, identity) && { opensWithin: true }),
    ...shownAtStart(start, identity),
    tenant: start.tenant ?? 'default',
    runId: identity.runId,
    taskId: start.task.taskId ?? identity.runId,
    traceId: start.task.traceId ?? identity.runId,
    start,
    now: identity.at,
    phase: 'initializing',
    clock: { startedAt: identity.at, activeMs: 0, waitingMs: 0 },
    head: null,
    pending: [],
    nextMessage: 0,
    context: contextAtFirst(0),
    requests: 0,
    tally: NOTHING_COUNTED,
    money: { spentMicroUsd: 0, reserved: {}, overrun: false },
    breakers: {},
    evidence: [],
    asks: [],
    closedAsks: [],
    early: [],
    queue: [],
    seenMessageIds: [],
    outbox: { nextSeq: 0, events: [] },
    inflight: {},
    nextEffect: 1,
    closeRequested: false,
    segment: { number: 0, full: false, opened: false },
    idle: false,
    unprocessed: [],
    verdicts: [],
  };
}

export interface NextSegment {
  readonly at: number;
  /** Temporal run id of the segment that ended. */
  readonly previousExecution: string;
}

/** The same run at the start of a new Temporal execution; its timers must be armed again. */
export function nextSegment(run: Run, segment: NextSegment): Run {
  return {
    ...elapse(run, segment.at),
    previousExecution: segment.previousExecution,
    segment: {
      number: run.segment.number + 1,
      full: false,
      opened: false,
      ...(follows(run, 'waitsAnew') && { firstEffect: run.nextEffect }),
    },
    verdicts: [],
  };
}

/**
 * Brings a run of an older shape to today's; the shape changes at segment starts only. Throws for one of a
 * newer release, whose rules or shape this code does not know.
 */
export function upgradeRun(run: Run): Run {
  const shape: number = run.shape;
  if (shape === SHAPE) return { ...run, rules: knownRules(run.rules) };
  throw new Error(
    `NotServed: the state of this run has shape ${shape}, this worker reads shape ${SHAPE}; deploy a newer worker`,
  );
}
