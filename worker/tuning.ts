/** How much a worker does at a time, in the words of Temporal's SDK. */
import type { WorkerOptions } from '@temporalio/worker';
import type { WorkerTuning } from '../authoring/index.js';

/** One thread decides; what it has in hand beyond that hides the way to the server and back. */
const DECISIONS_AT_ONCE = 10;
const ACTIVITIES_AT_ONCE = 100;
/**
 * Of the polls for decisions: those for runs that no worker remembers (new ones, woken ones, those of a dead worker). The
 * SDK's 0.2 serves the runs in its memory first, so that a hundred goals that wake at once wait until others have ended.
 */
const SHARED_POLLS = 0.7;

/** What of wider settings says how much is done, and only what is said. */
export function givenTuning(settings: WorkerTuning): WorkerTuning {
  const { decisionsAtOnce, activitiesAtOnce, maxCachedWorkflows } = settings;
  const { workflowPollers, activityPollers } = settings;
  const { activitiesPerSecond, queueActivitiesPerSecond } = settings;
  const named = {
    decisionsAtOnce,
    activitiesAtOnce,
    maxCachedWorkflows,
    workflowPollers,
    activityPollers,
    activitiesPerSecond,
    queueActivitiesPerSecond,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

export function tuned({
  decisionsAtOnce = DECISIONS_AT_ONCE,
  activitiesAtOnce = ACTIVITIES_AT_ONCE,
  maxCachedWorkflows,
  workflowPollers,
  activityPollers,
  activitiesPerSecond,
  queueActivitiesPerSecond,
}: WorkerTuning): Partial<WorkerOptions> {
  return {
    nonStickyToStickyPollRatio: SHARED_POLLS,
    maxConcurrentWorkflowTaskExecutions: decisionsAtOnce,
    maxConcurrentActivityTaskExecutions: activitiesAtOnce,
    ...(maxCachedWorkflows !== undefined && { maxCachedWorkflows }),
    ...(workflowPollers !== undefined && {
      workflowTaskPollerBehavior: pollers(Math.max(2, workflowPollers)),
    }),
    ...(activityPollers !== undefined && { activityTaskPollerBehavior: pollers(activityPollers) }),
    ...(activitiesPerSecond !== undefined && { maxActivitiesPerSecond: activitiesPerSecond }),
    ...(queueActivitiesPerSecond !== undefined && {
      maxTaskQueueActivitiesPerSecond: queueActivitiesPerSecond,
    }),
  };
}

/** Between one and so many, by load. */
function pollers(maximum: number) {
  return { type: 'autoscaling', initial: Math.min(5, maximum), maximum } as const;
}
