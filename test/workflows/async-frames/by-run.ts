/** Async frames around activities and timers, as tracing interceptors put them there; a signal comes without. */
import { workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';

/** As many as the id of the run ends with. */
export function interceptors(): WorkflowInterceptors {
  const count = Number(/\d+$/.exec(workflowInfo().workflowId)?.[0] ?? 0);
  return {
    outbound: [
      {
        scheduleActivity: (input, next) => framed(count, () => next(input)),
        startTimer: (input, next) => framed(count, () => next(input)),
      },
    ],
  };
}

async function framed<T>(count: number, work: () => Promise<T>): Promise<T> {
  return count === 0 ? await work() : await framed(count - 1, work);
}
