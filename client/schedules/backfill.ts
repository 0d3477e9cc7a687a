/** Taking up the ticks of a span that has passed. */
import type { ScheduleOverlapPolicy } from '@temporalio/client';
import { msNumberToTs } from '@temporalio/common/lib/time';
import { HoldfastError } from '../../core/state/errors.js';
import { bounded, type Link } from '../link.js';
import { checkSpan, type Overlap, type Span } from './check-schedule.js';
import { withOwn } from './own-schedule.js';

export interface BackfillWanted {
  readonly scheduleId: string;
  readonly span: Span;
  readonly overlap: Overlap;
}

/** Temporal would begin a tick anew whose run has ended, under the same id: those ticks are left out. */
export async function backfill(
  link: Link,
  { scheduleId, span, overlap }: BackfillWanted,
): Promise<readonly string[]> {
  const { ticks } = await withOwn(link, scheduleId, async ({ kept }) => kept);
  checkSpan(ticks, span, Date.now());
  const times = await withOwn(link, scheduleId, () => matchingTimes(link, scheduleId, span));
  const wanted: { readonly at: number; readonly id: string }[] = [];
  for (const at of times) {
    const id = tickId(scheduleId, at);
    if (!(await isStarted(link, id))) wanted.push({ at, id });
  }
  if (wanted.length === 0) return [];
  await withOwn(link, scheduleId, () =>
    link.temporal.schedule.getHandle(scheduleId).backfill(
      // Temporal leaves out a tick that lies on the first moment.
      wanted.map(({ at }) => ({
        start: new Date(at - 1),
        end: new Date(at),
        overlap: policyOf(overlap),
      })),
    ),
  );
  return wanted.map(({ id }) => id);
}

/** In Temporal's own words, which know every odd hour of a zone; ms since epoch. */
async function matchingTimes(
  { connection, namespace }: Link,
  scheduleId: string,
  { from, to }: Span,
): Promise<readonly number[]> {
  const { startTime } = await connection.workflowService.listScheduleMatchingTimes({
    namespace,
    scheduleId,
    startTime: msNumberToTs(from - 1),
    endTime: msNumberToTs(to),
  });
  return startTime.map(({ seconds }) => Number(seconds ?? 0) * 1_000);
}

/** As Temporal makes it. */
function tickId(scheduleId: string, at: number): string {
  return `${scheduleId}-${new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')}`;
}

/** The store remembers what Temporal has forgotten. */
async function isStarted(link: Link, id: string): Promise<boolean> {
  if ((await link.store?.getRun(link.tenant, id)) !== undefined) return true;
  try {
    await bounded(link, { runId: id }, () => link.temporal.workflow.getHandle(id).describe());
    return true;
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'RunNotFound') return false;
    throw error;
  }
}

export function policyOf(overlap: Overlap): ScheduleOverlapPolicy {
  return overlap.toUpperCase() as ScheduleOverlapPolicy;
}
