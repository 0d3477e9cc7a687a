/** A schedule of the client's own tenant, with what is kept beside it. */
import { ScheduleNotFoundError, type ScheduleDescription } from '@temporalio/client';
import { HoldfastError } from '../../core/state/errors.js';
import { bounded, type Link } from '../link.js';
import type { Ticks } from './check-schedule.js';

export const MEMO = 'holdfastSchedule';

/** What is kept beside the schedule: Temporal's own form of a cron line is not the line. */
export interface Kept {
  readonly v: 1;
  readonly tenant: string;
  readonly starts: 'run' | 'goal';
  readonly agent: string;
  readonly summary: string;
  readonly ticks: Ticks;
}

export interface Found {
  readonly description: ScheduleDescription;
  readonly kept: Kept;
}

async function found({ temporal, tenant }: Link, scheduleId: string): Promise<Found> {
  const description = await temporal.schedule.getHandle(scheduleId).describe();
  const kept = keptIn(description.memo);
  if (kept?.tenant !== tenant) throw notFound(scheduleId);
  return { description, kept };
}

/** Whose a schedule is says its memo alone. */
export function withOwn<T>(
  link: Link,
  scheduleId: string,
  work: (found: Found) => Promise<T>,
): Promise<T> {
  return bounded(link, {}, async () => {
    try {
      return await work(await found(link, scheduleId));
    } catch (error) {
      throw error instanceof ScheduleNotFoundError ? notFound(scheduleId, error) : error;
    }
  });
}

export function keptIn(memo: Record<string, unknown> | undefined): Kept | undefined {
  const kept = memo?.[MEMO];
  if (typeof kept !== 'object' || kept === null || (kept as Kept).v !== 1) return undefined;
  return kept as Kept;
}

function notFound(scheduleId: string, cause?: unknown): HoldfastError {
  return new HoldfastError('ScheduleNotFound', `There is no schedule ${scheduleId}.`, {
    hint: 'List the schedules with `holdfast schedule list`.',
    details: { scheduleId },
    ...(cause !== undefined && { cause }),
  });
}
