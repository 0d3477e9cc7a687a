/**
 * Lets in only what belongs to a workflow task that has started. A query that reaches the worker with the whole
 * history may bring events whose task nobody has started yet: their time is not known, so the run would decide
 * at the time of the task before, and every replay at another. Failing here costs that query, which is asked
 * again, and the run's place in the cache; the task itself follows, and brings the same events with their time.
 * A query that is answered while a local activity runs completes its task. Where the activity ends before the answer, its
 * marker goes with that task, and the run hears of the end with the next task, at its time and beside its signals: every
 * replay would decide otherwise. Failing here costs the task, which is done once more from the history. Where the activity
 * ends after the answer, the next task writes the marker, and replays hear of it there as well: failing then would begin the
 * activity again without end. The history tells which it was: a marker is one event more between the two tasks.
 * Not in the replayer: a history may end with such events.
 */
import type { WorkflowInterceptors } from '@temporalio/workflow';
import { applying } from './activation.js';
import { isReplayer } from './replayer.js';

/** What is looked at of one activation, as the SDK's protocol has it. */
export interface Delivery {
  readonly timestamp?: Time | null;
  /** Number of the last event of which the workflow knows. */
  readonly historyLength?: number | null;
  /** Bytes of history, as the last task that has started said: a task changes it, whatever the clocks say. */
  readonly historySizeBytes?: Long | null;
  readonly isReplaying?: boolean | null;
  readonly jobs?: readonly object[] | null;
}

interface Time {
  readonly seconds?: Long | null;
  readonly nanos?: number | null;
}

/** A number, or the SDK's 64-bit integer. */
interface Long {
  toString(): string;
}

/** Part of what a refused query is told; whoever asked knows by it that asking again helps. */
export const TASK_NOT_STARTED = 'the workflow task of these events has not started';
/** Part of what a workflow task fails with that is then done once more. */
export const RESULT_OF_TASK_BEFORE =
  'this result of a local activity belongs to the workflow task before';

/** What lies between two tasks at least: the first one's completion, and the next one's own two events. */
const EVENTS_BETWEEN = 3;

/** For one run: throws for events without their task, and for results without theirs. */
export function startedTasksOnly(): (delivery: Delivery, batch?: number) => void {
  let before: { readonly task: string; readonly events: number } | undefined;
  /** Events up to the task of a query, where nothing has come since. */
  let asked: number | undefined;
  /** Events behind the task of that query that nothing in this delivery comes of. */
  let unexplained = 0;
  return ({ timestamp, historyLength, historySizeBytes, isReplaying, jobs }, batch = 0) => {
    const all = jobs ?? [];
    const events = historyLength ?? 0;
    if (all.some(isQuery)) {
      asked = events;
      return;
    }
    const task = [timestamp?.seconds, timestamp?.nanos, historySizeBytes].join(' ');
    // One more delivery of the same task brings no events.
    if (isReplaying !== true && before?.task === task && events > before.events) {
      throw new Error(`Not now: ${TASK_NOT_STARTED}.`);
    }
    if (batch === 0) unexplained = asked === undefined ? 0 : events - asked - EVENTS_BETWEEN;
    unexplained -= all.filter(isOfEvent).length;
    asked = undefined;
    if (isReplaying !== true && unexplained > 0 && all.some(isLocalResult)) {
      throw new Error(`Not now: ${RESULT_OF_TASK_BEFORE}. The task is done once more.`);
    }
    before = { task, events };
  };
}

/** Queries never come together with anything else. */
function isQuery(job: object): boolean {
  return 'queryWorkflow' in job && job.queryWorkflow != null;
}

function isLocalResult(job: object): boolean {
  const { resolveActivity } = job as {
    readonly resolveActivity?: { readonly isLocal?: boolean | null } | null;
  };
  return resolveActivity?.isLocal === true;
}

/** An update comes of a message, the end of a local activity of the worker itself; all else of an event. */
function isOfEvent(job: object): boolean {
  return !isLocalResult(job) && !('doUpdate' in job && job.doUpdate != null);
}

export function interceptors(): WorkflowInterceptors {
  const check = isReplayer() ? undefined : startedTasksOnly();
  return {
    internals: [
      {
        activate(input, next) {
          check?.(input.activation, input.batchIndex);
          applying(() => next(input));
        },
      },
    ],
  };
}
