/**
 * Lets in only what belongs to a workflow task that has started. A query that reaches the worker with the whole
 * history may bring events whose task nobody has started yet: their time is not known, so the run would decide
 * at the time of the task before, and every replay at another. Failing here costs that query, which is asked
 * again, and the run's place in the cache; the task itself follows, and brings the same events with their time.
 * A task that answers a query while a local activity runs is completed before the run hears of the activity's end, and the
 * next task begins with that end, at its own time and beside its own signals. The history has the end in the task before, so
 * every replay would decide otherwise. Failing here costs the task, which is done once more from the history. What that
 * replay had begun and what the history has no end of runs in the task that is done: its end belongs there, and is let in.
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

/** For one run: throws for events without their task, and for results without theirs. */
export function startedTasksOnly(): (delivery: Delivery, batch?: number) => void {
  let before: { readonly task: string; readonly events: number } | undefined;
  /** Some task was more than a replay. */
  let isLive = false;
  let beginsLater = false;
  return ({ timestamp, historyLength, historySizeBytes, isReplaying, jobs = [] }, batch = 0) => {
    const wasLive = isLive;
    const events = historyLength ?? 0;
    // One more delivery of the same task brings no events.
    const bringsEvents = before !== undefined && events > before.events;
    // Every query says that it is a replay, also in a task of which the run has heard nothing else.
    isLive ||= jobs?.some(isQuery) ? bringsEvents : isReplaying !== true;
    if (jobs?.some(isQuery)) return;
    const task = [timestamp?.seconds, timestamp?.nanos, historySizeBytes].join(' ');
    if (batch === 0) beginsLater = bringsEvents && wasLive;
    if (isReplaying !== true && bringsEvents && before?.task === task) {
      throw new Error(`Not now: ${TASK_NOT_STARTED}.`);
    }
    if (isReplaying !== true && beginsLater && jobs?.some(isLocalResult)) {
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
