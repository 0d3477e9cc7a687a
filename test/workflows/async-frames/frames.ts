/** Async frames around activities and timers, as tracing interceptors put them there; a signal comes without. */
import type { WorkflowInterceptors } from '@temporalio/workflow';

export function withFrames(count: number): WorkflowInterceptors {
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
