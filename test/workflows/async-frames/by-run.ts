/**
 * Async frames around activities and timers, as tracing interceptors put them there; a signal comes without. Of a run whose
 * id begins with `before` they come before an activity begins, and of one whose id begins with `refused` before a read is
 * refused.
 */
import { CancelledFailure, workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';

/** As many as the id of the run ends with. */
export function interceptors(): WorkflowInterceptors {
  const { workflowId } = workflowInfo();
  const count = Number(/\d+$/.exec(workflowId)?.[0] ?? 0);
  if (workflowId.startsWith('before')) {
    return {
      outbound: [{ scheduleActivity: async (input, next) => (await frames(count), next(input)) }],
    };
  }
  if (workflowId.startsWith('refused')) {
    return {
      outbound: [
        {
          scheduleActivity: async (input, next) => {
            if (input.activityType !== 'execute_tool') return next(input);
            await frames(count);
            throw new CancelledFailure('An interceptor refuses it.');
          },
        },
      ],
    };
  }
  return {
    outbound: [
      {
        scheduleActivity: (input, next) => framed(count, () => next(input)),
        startTimer: (input, next) => framed(count, () => next(input)),
      },
    ],
  };
}

async function frames(count: number): Promise<void> {
  for (let frame = 0; frame < count; frame += 1) await Promise.resolve();
}

async function framed<T>(count: number, work: () => Promise<T>): Promise<T> {
  return count === 0 ? await work() : await framed(count - 1, work);
}
