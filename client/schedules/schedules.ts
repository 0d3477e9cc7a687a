/**
 * Runs and goals at times, by Temporal's own schedules.
 * Invariant: a schedule is reached by its own tenant alone; nothing is told of another one's.
 */
import {
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  type ScheduleSpec,
} from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { HoldfastError } from '../../core/state/errors.js';
import { AGENT_RUN, GOAL_RUN } from '../../workflows/messages.js';
import {
  checkNote,
  checkSchedule,
  checkScheduleId,
  type CheckedSchedule,
  type Overlap,
  type ScheduleOptions,
  type Span,
  type Ticks,
} from './check-schedule.js';
import { backfill, policyOf } from './backfill.js';
import { keptIn, MEMO, withOwn, type Found, type Kept } from './own-schedule.js';
import { checkedCalls, SCHEDULE_CALLS } from '../checked-calls.js';
import { bounded, type Link } from '../link.js';
import { ensureNamespaceReady } from '../namespace.js';
import { plainLine } from '../read/plain-line.js';
import { TENANT } from '../runs/execution.js';
import { refuseUnknown } from '../runs/served-agents.js';
import { BEGUN, ownStore } from '../runs/start-workflow.js';

/** A schedule in a list. */
export interface ScheduleSummary {
  readonly scheduleId: string;
  readonly starts: 'run' | 'goal';
  readonly agent: string;
  /** The beginning of what is wanted. */
  readonly summary: string;
  readonly ticks: Ticks;
  readonly paused: boolean;
  readonly note?: string;
  /** ms since epoch; empty while it is paused or has no more ticks. */
  readonly next: readonly number[];
}

/** A schedule with what it starts. */
export interface ScheduleView extends ScheduleSummary {
  readonly overlap: Overlap;
  readonly catchupMs: number;
  /** Ids of what it started last, the newest last. */
  readonly started: readonly { readonly id: string; readonly at: number }[];
  readonly count: number;
}

/** A schedule: it is changed, paused, triggered and deleted by it. */
export interface ScheduleHandle {
  readonly scheduleId: string;
  /** Errors of everything here: ScheduleNotFound, also for a schedule of another tenant; ServerUnavailable. */
  show(): Promise<ScheduleView>;
  pause(note?: string): Promise<void>;
  resume(note?: string): Promise<void>;
  /** Starts one now, whatever is open, unless `overlap` says otherwise. */
  trigger(overlap?: Overlap): Promise<void>;
  /**
   * Takes up the ticks of a span that has passed, and gives the ids of what they start; those that started something
   * already start nothing. Errors: InvalidTask for more than 1,000 ticks.
   */
  backfill(span: Span, overlap?: Overlap): Promise<readonly string[]>;
  /** What it has started goes on. */
  delete(): Promise<void>;
}

const AGENT = defineSearchAttributeKey('HoldfastAgent', SearchAttributeType.KEYWORD);
const SUMMARY_CHARS_MAX = 120;
const LIST_MAX = 1_000;

/** Errors: InvalidTask, UnknownAgent while workers serve others, ScheduleExists, ServerUnavailable. */
export async function createSchedule(
  link: Link,
  options: ScheduleOptions,
): Promise<ScheduleHandle> {
  const wanted = checkSchedule(options, link.tenant);
  await refuseUnknown(link, wanted.agent);
  const store = await ownStore(link);
  try {
    await create(link, wanted, store);
  } catch (error) {
    const reason = error instanceof Error ? error.message : '';
    if (!/search attribute/i.test(reason)) throw error;
    await ensureNamespaceReady(link);
    await create(link, wanted, store);
  }
  return scheduleHandle(link, wanted.scheduleId);
}

async function create(
  link: Link,
  wanted: CheckedSchedule,
  store: { readonly store?: string },
): Promise<void> {
  const { scheduleId, ticks, starts, input, agent, overlap, catchupMs, paused, note } = wanted;
  const { tenant, taskQueue, temporal } = link;
  const summary = plainLine(wanted.summary, SUMMARY_CHARS_MAX);
  const kept: Kept = { v: 1, tenant, starts, agent, summary, ticks };
  const attributes = [
    { key: AGENT, value: agent },
    { key: TENANT, value: tenant },
  ];
  await bounded(link, {}, async () => {
    try {
      await temporal.schedule.create({
        scheduleId,
        spec: specOf(ticks),
        action: {
          type: 'startWorkflow',
          workflowType: starts === 'goal' ? GOAL_RUN : AGENT_RUN,
          workflowId: scheduleId,
          taskQueue,
          args: [{ ...input, ...store }],
          typedSearchAttributes: [...attributes, ...(starts === 'goal' ? [] : BEGUN)],
          staticSummary: `${agent}: ${summary}`,
          ...(wanted.memo !== undefined && { memo: { ...wanted.memo } }),
        },
        policies: { overlap: policyOf(overlap), catchupWindow: catchupMs },
        state: { paused, ...(note !== undefined && { note }) },
        memo: { [MEMO]: kept },
        typedSearchAttributes: attributes,
      });
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      throw new HoldfastError('ScheduleExists', `The schedule id ${scheduleId} is taken.`, {
        hint: 'Choose another id, or delete the schedule that has it.',
        details: { scheduleId },
        cause: error,
      });
    }
  });
}

/** A handle; nothing is asked of the server yet. */
export function scheduleHandle(link: Link, id: string): ScheduleHandle {
  const scheduleId = checkScheduleId(id);
  const handle = link.temporal.schedule.getHandle(scheduleId);
  const own = <T>(work: (found: Found) => Promise<T>): Promise<T> =>
    withOwn(link, scheduleId, work);
  const calls: ScheduleHandle = {
    scheduleId,
    show: () => own(async ({ description, kept }) => viewOf(description, kept)),
    pause: (note = 'paused') => own(() => handle.pause(checkNote(note))),
    resume: (note = 'resumed') => own(() => handle.unpause(checkNote(note))),
    trigger: (overlap = 'allow_all') => own(() => handle.trigger(policyOf(overlap))),
    backfill: (span, overlap = 'buffer_all') => backfill(link, { scheduleId, span, overlap }),
    delete: () => own(() => handle.delete()),
  };
  return checkedCalls(calls, SCHEDULE_CALLS);
}

/** Of the client's tenant, in no order. */
export async function listSchedules(link: Link): Promise<readonly ScheduleSummary[]> {
  // Names of tenants have no character that ends a text.
  const query = `HoldfastTenant = '${link.tenant.replace(/[\\']/g, '\\$&')}'`;
  return bounded(link, {}, async () => {
    const schedules: ScheduleSummary[] = [];
    for await (const one of link.temporal.schedule.list({ query, pageSize: 100 })) {
      const kept = keptIn(one.memo);
      if (kept?.tenant !== link.tenant) continue;
      schedules.push(summaryOf({ ...one, nextActionTimes: one.info.nextActionTimes }, kept));
      if (schedules.length >= LIST_MAX) break;
    }
    return schedules.toSorted((a, b) => (a.scheduleId < b.scheduleId ? -1 : 1));
  });
}

interface Shown {
  readonly scheduleId: string;
  readonly state: { readonly paused: boolean; readonly note?: string };
  readonly nextActionTimes: readonly Date[];
}

function summaryOf({ scheduleId, state, nextActionTimes }: Shown, kept: Kept): ScheduleSummary {
  const { starts, agent, summary, ticks } = kept;
  const { paused, note } = state;
  return {
    scheduleId,
    starts,
    agent,
    summary,
    ticks,
    paused,
    ...(note !== undefined && note !== '' && { note }),
    next: paused ? [] : nextActionTimes.map((time) => time.getTime()),
  };
}

function viewOf(description: ScheduleDescription, kept: Kept): ScheduleView {
  const { info, policies } = description;
  return {
    ...summaryOf({ ...description, nextActionTimes: info.nextActionTimes }, kept),
    overlap: (policies.overlap ?? 'SKIP').toLowerCase() as Overlap,
    catchupMs: policies.catchupWindow,
    started: info.recentActions.map(({ action, takenAt }) => ({
      id: action.workflow.workflowId,
      at: takenAt.getTime(),
    })),
    count: info.numActionsTaken,
  };
}

function specOf(ticks: Ticks): ScheduleSpec {
  if ('everyMs' in ticks) return { intervals: [{ every: ticks.everyMs }] };
  return { cronExpressions: [ticks.cron], timezone: ticks.timezone };
}
