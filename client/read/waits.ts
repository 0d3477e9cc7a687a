/**
 * What a run waits for, and since when, as the server's list of pending work says it: it is known although the store
 * is away and no worker runs.
 * Invariants: an activity at work waits for nothing; texts of others are short lines without control characters, and
 * a time that they give is believed only when it is past.
 */
import { ownValue } from '../../core/json/json.js';
import { isRecord } from '../../core/json/shape.js';
import { isCount } from '../../core/json/count.js';
import { plainLine } from './plain-line.js';

/** What a run waits for, since when. */
export interface Wait {
  /** `a worker`, `a worker of the task queue NAME`, `the store`, `the right store`, `the transcript`, `a worker with the tool NAME` and the like. */
  readonly for: string;
  /** The kind of activity that waits; absent: the run itself waits, with its next step. */
  readonly activity?: string;
  /** ms since epoch. */
  readonly since: number;
  /** How often it was tried so far. */
  readonly attempts: number;
  /** What the last attempt was refused with. */
  readonly message?: string;
  /** When it is tried again; absent: an attempt is under way, or due. ms since epoch. */
  readonly nextAt?: number;
}

export interface PendingWork {
  readonly activities: readonly PendingActivity[];
  readonly workflowTask?: PendingTask;
}

export interface PendingActivity {
  readonly id: string;
  readonly type: string;
  readonly state: 'scheduled' | 'started';
  /** Which attempt is pending, from 1. */
  readonly attempt: number;
  /** From when on a worker may take it, while it is scheduled; ms since epoch. */
  readonly dueAt?: number | undefined;
  /** When its first attempt was scheduled, where that is known; ms since epoch. */
  readonly scheduledAt?: number | undefined;
  readonly failure?: PendingFailure | undefined;
  /** The task queue that it lies in, where that is not the run's. */
  readonly queue?: string;
  /** What it does, of one that was lost with a worker: the tool that it calls, for example. */
  readonly summary?: string;
  /** Its last heartbeat. */
  readonly progress?: unknown;
}

export interface PendingFailure {
  readonly type: string | undefined;
  readonly message: string;
  /** What the failure carries. */
  readonly facts: unknown;
  /** When the attempt ended; ms since epoch. */
  readonly at: number;
  /** The time of the attempt ran out while its worker was there. */
  readonly timedOut?: true;
  /** Its worker has said nothing for too long: it died, or was too slow. */
  readonly lost?: true;
}

export interface PendingTask {
  readonly isScheduled: boolean;
  readonly attempt: number;
  readonly dueAt: number | undefined;
}

/** A worker that runs takes what is due within this time; ms. */
const UNTAKEN_MS = 10_000;
/** What a run waits for that was begun with another store than the worker's. */
export const RIGHT_STORE = 'the right store';
export const TRANSCRIPT = 'the transcript';
const WAITS_MAX = 50;
const MESSAGE_CHARS_MAX = 300;
const NAME_CHARS_MAX = 128;
/** What a worker that refuses for want of code names, the most telling first. */
const PARTS = ['tool', 'agent', 'hook', 'model', 'provider'] as const;

/** The longest wait first. */
export function waitsOf({ activities, workflowTask }: PendingWork, now: number): readonly Wait[] {
  const waits = activities.flatMap((activity) => waitsOfActivity(activity, now));
  const task = workflowTask?.isScheduled === true ? workflowTask : undefined;
  if (task !== undefined && isUntaken(task.dueAt, now)) {
    waits.push({ for: 'a worker', since: task.dueAt, attempts: triesBefore(task.attempt) });
  }
  return waits.toSorted((one, other) => one.since - other.since).slice(0, WAITS_MAX);
}

/** Whether its attempts reach nothing, for want of something that may come back. */
export function isRefused(pending: PendingActivity): boolean {
  const { failure, state, progress } = pending;
  if (failure === undefined) return false;
  if (isTimedOutIdle(pending)) return true;
  if (wanted(failure) === undefined) return false;
  return state === 'scheduled' || countIn(progress, 'workingAt') === undefined;
}

/** An attempt that works on nothing speaks to the store: a store that is away may cost it all of its time. */
export function isTimedOutIdle({ failure, progress }: PendingActivity): boolean {
  const count = (name: string): number | undefined => countIn(progress, name);
  const isIdle = count('idleMs') !== undefined && count('workingAt') === undefined;
  return failure?.timedOut === true && isIdle && count('workedMs') === 0;
}

function waitsOfActivity(pending: PendingActivity, now: number): Wait[] {
  const { state, attempt, dueAt, failure } = pending;
  const isScheduled = state === 'scheduled';
  const activity = plainLine(pending.type, NAME_CHARS_MAX);
  const attempts = isScheduled ? triesBefore(attempt) : attempt;
  const waits: Wait[] = [];
  if (failure !== undefined && isRefused(pending)) {
    waits.push({
      for: wanted(failure) ?? 'the store',
      activity,
      since: Math.min(refusedSince(pending, now) ?? pending.scheduledAt ?? failure.at, now),
      attempts,
      message: plainLine(failure.message, MESSAGE_CHARS_MAX),
      ...(isScheduled && dueAt !== undefined && dueAt > now && { nextAt: dueAt }),
    });
  }
  if (isScheduled && isUntaken(dueAt, now)) {
    waits.push({ for: workerOf(pending), activity, since: dueAt, attempts });
  }
  return waits;
}

function workerOf({ queue }: PendingActivity): string {
  return queue === undefined
    ? 'a worker'
    : `a worker of the task queue ${plainLine(queue, NAME_CHARS_MAX)}`;
}

function isUntaken(dueAt: number | undefined, now: number): dueAt is number {
  return dueAt !== undefined && now - dueAt > UNTAKEN_MS;
}

function triesBefore(attempt: number): number {
  return Math.max(0, attempt - 1);
}

/** Undefined: the failure is none that waits. */
function wanted({ type, facts }: PendingFailure): string | undefined {
  switch (type) {
    case 'StoreUnavailable':
      return 'the store';
    case 'WrongStore':
      return RIGHT_STORE;
    case 'TranscriptMissing':
      return TRANSCRIPT;
    case 'NotServed':
      return workerWith(facts);
    default:
      return undefined;
  }
}

function workerWith(facts: unknown): string {
  for (const part of PARTS) {
    const name = isRecord(facts) ? ownValue(facts, part) : undefined;
    if (typeof name === 'string')
      return `a worker with the ${part} ${plainLine(name, NAME_CHARS_MAX)}`;
  }
  const version = countIn(facts, 'payloadVersion');
  if (version !== undefined) return `a newer worker, which reads payloads of version ${version}`;
  return 'a worker that serves it';
}

/** Since when, in a row, attempts were refused: their failures say it, and so do their last heartbeats. */
function refusedSince({ failure, progress }: PendingActivity, now: number): number | undefined {
  const told = [failure?.facts, progress].map((facts) => countIn(facts, 'waitingSince'));
  return told.find((since) => since !== undefined && since <= now);
}

function countIn(facts: unknown, name: string): number | undefined {
  const value = isRecord(facts) ? ownValue(facts, name) : undefined;
  return isCount(value) ? value : undefined;
}
