import { defineAgent, defineConfig } from '../../authoring/index.js';
import { givenTuning, tuned } from '../../worker/tuning.js';

const agents = [defineAgent({ name: 'a', model: 'scripted/x', instructions: 'Help.' })];

describe('how much a worker does at a time', () => {
  test('has defaults that leave the rest to the SDK', () => {
    expect(tuned({})).toEqual({
      nonStickyToStickyPollRatio: 0.7,
      maxConcurrentWorkflowTaskExecutions: 10,
      maxConcurrentActivityTaskExecutions: 100,
    });
  });

  test('comes from the configuration, and from settings above it', () => {
    const { worker } = defineConfig({
      agents,
      worker: {
        decisionsAtOnce: 20,
        activitiesAtOnce: 7,
        maxCachedWorkflows: 50,
        workflowPollers: 1,
        activityPollers: 8,
        queueActivitiesPerSecond: 2.5,
      },
    });
    const above = givenTuning({ activitiesAtOnce: 3, activitiesPerSecond: 9 });
    expect(tuned({ ...worker, ...above })).toEqual({
      nonStickyToStickyPollRatio: 0.7,
      maxConcurrentWorkflowTaskExecutions: 20,
      maxConcurrentActivityTaskExecutions: 3,
      maxCachedWorkflows: 50,
      // One of them is for the runs that the worker knows.
      workflowTaskPollerBehavior: { type: 'autoscaling', initial: 2, maximum: 2 },
      activityTaskPollerBehavior: { type: 'autoscaling', initial: 5, maximum: 8 },
      maxActivitiesPerSecond: 9,
      maxTaskQueueActivitiesPerSecond: 2.5,
    });
  });

  test.each([
    { decisionsAtOnce: 1 },
    { activitiesAtOnce: 0 },
    { activitiesPerSecond: 0 },
    { x: 1 },
  ])('is refused by name when it cannot be meant: %j', (worker) => {
    expect(() => defineConfig({ agents, worker: worker as object })).toThrow(
      expect.objectContaining({
        code: 'InvalidConfig',
        message: expect.stringContaining('worker'),
      }),
    );
  });
});
