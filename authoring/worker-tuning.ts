/** The worker section of a configuration: how much one worker does at a time. */
import { z } from 'zod';
import { OR_LEAVE, wrongPart } from './field-places.js';
import { parseFields } from './parse-fields.js';

const count = (max: number) => z.number().int().min(1).max(max).optional();
const perSecond = z.number().positive().max(100_000).optional();

const schema = z.strictObject({
  /**
   * How many decisions of runs are in the worker's hands at once, at least 2; default 10. One that its worker does not
   * get to is lost when the worker dies, or takes longer than 10 s for those before it. A server that is far away
   * (a round trip of 50 ms and more) may need more.
   */
  decisionsAtOnce: z.number().int().min(2).max(1_000).optional(),
  /** Activities (model calls, tools, writing) under way at once; default 100. */
  activitiesAtOnce: count(10_000),
  /** Runs that are kept in memory between decisions; default by the memory, about 600 for each GB. 0: for tests. */
  maxCachedWorkflows: z.number().int().min(0).max(100_000).optional(),
  /** Most requests for work that wait at the server at a time; default: as many as it takes, by load. */
  workflowPollers: count(100),
  activityPollers: count(100),
  /** Activities that this worker begins in a second; default: no limit. */
  activitiesPerSecond: perSecond,
  /** The same of all workers of the task queue together; the server keeps to what it was told last. */
  queueActivitiesPerSecond: perSecond,
});

export type WorkerTuning = z.output<typeof schema>;

/** Errors: InvalidConfig naming the field. */
export function parseTuning(tuning: unknown): WorkerTuning {
  const result = parseFields(schema, tuning ?? {});
  if (result.success) return result.data;
  throw wrongPart('worker', result.error, OR_LEAVE);
}
