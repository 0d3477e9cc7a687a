/**
 * The longest time in which a run made no progress, from the events of its Temporal history: between two consecutive
 * events while an activity or a workflow task was due. What a person is waited for is no stall: then nothing is due.
 */
import type { WorkflowHandle } from '@temporalio/client';

export type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;
type HistoryEvent = NonNullable<History['events']>[number];

export interface Stall {
  readonly ms: number;
  /** Since the run's start, ms. */
  readonly from: number;
  /** What was due all that time, as people read it. */
  readonly waitedFor: string;
}

interface Due {
  readonly from: number;
  to: number;
  label: string;
}

export const NO_STALL: Stall = { ms: 0, from: 0, waitedFor: 'nothing' };

/** `endsAt`: up to when a run that has not ended is looked at; ms since epoch. */
export function longestStall({ events }: History, endsAt: number): Stall {
  const all = events ?? [];
  const times = all.map(timeOf).toSorted((a, b) => a - b);
  const [first = endsAt] = times;
  const isOver = CLOSING.some((name) => all.at(-1)?.[name] != null);
  if (!isOver) times.push(endsAt);
  const due = [...activitiesIn(all, endsAt), ...tasksIn(all, endsAt)];
  let longest = NO_STALL;
  for (const [index, to] of times.entries()) {
    const from = times[index - 1] ?? to;
    if (to - from <= longest.ms) continue;
    const open = due.filter((one) => one.from <= from && one.to >= to);
    if (open.length === 0) continue;
    const waitedFor = open.map(({ label }) => label).join('; ');
    longest = { ms: to - from, from: from - first, waitedFor };
  }
  return longest;
}

const CLOSING = [
  'workflowExecutionCompletedEventAttributes',
  'workflowExecutionFailedEventAttributes',
  'workflowExecutionTerminatedEventAttributes',
  'workflowExecutionCanceledEventAttributes',
  'workflowExecutionContinuedAsNewEventAttributes',
] as const;

function activitiesIn(events: readonly HistoryEvent[], endsAt: number): readonly Due[] {
  const open = new Map<string, Due>();
  const all: Due[] = [];
  for (const event of events) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled != null) {
      const label = `${scheduled.activityId ?? ''} (never begun, or at work)`;
      const due = { from: timeOf(event), to: endsAt, label };
      open.set(String(event.eventId), due);
      all.push(due);
    }
    const started = event.activityTaskStartedEventAttributes;
    const begun = open.get(String(started?.scheduledEventId));
    if (started != null && begun !== undefined) {
      const id = begun.label.split(' ')[0]!;
      const after = started.lastFailure == null ? '' : ` after ${failureText(started.lastFailure)}`;
      const waitedMs = timeOf(event) - begun.from;
      begun.label = `${id}, delivery ${started.attempt ?? 1}${after}, begun ${seconds(waitedMs)} after it was due`;
    }
    const closed =
      event.activityTaskCompletedEventAttributes ??
      event.activityTaskFailedEventAttributes ??
      event.activityTaskTimedOutEventAttributes ??
      event.activityTaskCanceledEventAttributes;
    const ended = open.get(String(closed?.scheduledEventId));
    if (closed != null && ended !== undefined) ended.to = timeOf(event);
  }
  return all;
}

type Failure = NonNullable<
  NonNullable<HistoryEvent['activityTaskStartedEventAttributes']>['lastFailure']
>;

/** Of Temporal's numbers. */
const TIMEOUTS = ['', 'start to close', 'schedule to start', 'schedule to close', 'heartbeat'];

function failureText(failure: Failure): string {
  const timeout = failure.timeoutFailureInfo?.timeoutType;
  if (timeout != null) return `a lost delivery (${TIMEOUTS[timeout]} timeout)`;
  return `${failure.applicationFailureInfo?.type ?? 'a failure'}: ${failure.message ?? ''}`;
}

/** Tasks of the workflow, from when one is due until one is done, over all that time out or fail. */
function tasksIn(events: readonly HistoryEvent[], endsAt: number): readonly Due[] {
  const all: Due[] = [];
  let due: Due | undefined;
  for (const event of events) {
    if (event.workflowTaskScheduledEventAttributes != null && due === undefined) {
      due = { from: timeOf(event), to: endsAt, label: 'a workflow task' };
      all.push(due);
    }
    if (due === undefined) continue;
    const timedOut = event.workflowTaskTimedOutEventAttributes;
    if (timedOut != null) due.label += `, lost (${TIMEOUTS[timedOut.timeoutType ?? 0]} timeout)`;
    const failed = event.workflowTaskFailedEventAttributes;
    if (failed != null) due.label += `, failed (${failed.failure?.message ?? ''})`;
    const attempt = event.workflowTaskScheduledEventAttributes?.attempt ?? 1;
    if (attempt > 1) due.label += `, attempt ${attempt}`;
    if (event.workflowTaskCompletedEventAttributes != null) {
      due.to = timeOf(event);
      due = undefined;
    }
  }
  return all;
}

function timeOf({ eventTime }: HistoryEvent): number {
  return Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1_000_000;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
