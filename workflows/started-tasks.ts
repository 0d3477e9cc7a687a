/**
 * Lets in only what belongs to a workflow task that has started. A query that reaches the worker with the whole
 * history may bring events whose task nobody has started yet: their time is not known, so the run would decide
 * at the time of the task before, and every replay at another. Failing here costs that query, which is asked
 * again, and the run's place in the cache; the task itself follows, and brings the same events with their time.
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

/** For one run: throws for events without their task. */
export function startedTasksOnly(): (delivery: Delivery) => void {
  let before: { readonly task: string; readonly events: number } | undefined;
  return ({ timestamp, historyLength, historySizeBytes, isReplaying, jobs = [] }) => {
    if (jobs?.some(isQuery)) return;
    const task = [timestamp?.seconds, timestamp?.nanos, historySizeBytes].join(' ');
    const events = historyLength ?? 0;
    // One more delivery of the same task brings no events.
    if (isReplaying !== true && before?.task === task && events > before.events) {
      throw new Error(`Not now: ${TASK_NOT_STARTED}.`);
    }
    before = { task, events };
  };
}

/** Queries never come together with anything else. */
function isQuery(job: object): boolean {
  return 'queryWorkflow' in job && job.queryWorkflow != null;
}

export function interceptors(): WorkflowInterceptors {
  const check = isReplayer() ? undefined : startedTasksOnly();
  return {
    internals: [
      {
        activate(input, next) {
          check?.(input.activation);
          applying(() => next(input));
        },
      },
    ],
  };
}
