/**
 * The server's list of a run's pending work, read. Invariant: what cannot be decoded, or not within its time, is left
 * out and keeps nobody from the rest.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DescribeWorkflowExecutionResponse } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { bounded, type Link } from '../link.js';
import {
  isRefused,
  isTimedOutIdle,
  type PendingActivity,
  type PendingFailure,
  type PendingWork,
} from './waits.js';

type Described = DescribeWorkflowExecutionResponse;
type RawActivity = NonNullable<Described['pendingActivities']>[number];
type RawFailure = NonNullable<RawActivity['lastFailure']>;
type RawEvent = NonNullable<Awaited<ReturnType<typeof lastEvents>>>[number];
type RawTime = RawActivity['scheduledTime'];

/** Temporal's numbers of the states of what is scheduled and not begun. */
const ACTIVITY_SCHEDULED = 1;
const WORKFLOW_TASK_SCHEDULED = 1;
/** Of the kinds of timeouts. */
const START_TO_CLOSE = 1;
const HEARTBEAT = 4;
const EVENTS_LOOKED_AT = 50;
const ACTIVITIES_MAX = 50;
/** What activities of ours say between their attempts is smaller by far. */
const PAYLOAD_BYTES_MAX = 65_536;
/** Codecs of users may ask a service of theirs. */
const DECODING_MS_MAX = 2_000;

/** `brief`: without what must be decoded, or asked of the history. */
export type Look = 'whole' | 'brief';

export async function pendingWorkOf(
  link: Link,
  described: Described,
  look: Look = 'whole',
): Promise<PendingWork> {
  const { pendingActivities, pendingWorkflowTask: task } = described;
  const raw = (pendingActivities ?? []).slice(0, ACTIVITIES_MAX);
  const queue = described.executionConfig?.taskQueue?.name;
  const listed = raw.map((one) => ({ raw: one, pending: pendingActivity(one, queue) }));
  const activities =
    look === 'brief'
      ? listed.map(({ pending }) => pending)
      : await toldWhole(link, described, listed);
  if (task == null) return { activities };
  const { state, attempt, scheduledTime, originalScheduledTime } = task;
  // A task that its usual worker did not take is given to any, and has waited since it was given to the first.
  const first = Number(attempt ?? 1) <= 1 ? msOf(originalScheduledTime) : undefined;
  const workflowTask = {
    isScheduled: state === WORKFLOW_TASK_SCHEDULED,
    attempt: Number(attempt ?? 1),
    dueAt: first ?? msOf(scheduledTime),
  };
  return { activities, workflowTask };
}

/** `ownQueue`: of the run. */
function pendingActivity(raw: RawActivity, ownQueue: string | null | undefined): PendingActivity {
  const { activityType, state, attempt, scheduledTime, lastFailure } = raw;
  const queue = raw.activityOptions?.taskQueue?.name;
  return {
    id: raw.activityId ?? '',
    type: activityType?.name ?? '',
    state: state === ACTIVITY_SCHEDULED ? 'scheduled' : 'started',
    attempt: attempt ?? 1,
    dueAt: msOf(raw.nextAttemptScheduleTime) ?? msOf(scheduledTime),
    ...(queue && queue !== ownQueue && { queue }),
    ...(lastFailure != null && { failure: failureOf(lastFailure, raw) }),
  };
}

interface Listed {
  readonly raw: RawActivity;
  readonly pending: PendingActivity;
}

/** However many ask for the history, it is read once. */
async function toldWhole(
  link: Link,
  described: Described,
  listed: readonly Listed[],
): Promise<readonly PendingActivity[]> {
  const stop = new AbortController();
  const late = sleep(DECODING_MS_MAX, undefined, { signal: stop.signal }).catch(() => undefined);
  let events: ReturnType<typeof lastEvents> | undefined;
  const scheduling: Told['scheduling'] = async (id) => {
    events ??= lastEvents(link, described);
    const found = await Promise.race([events, late]);
    return found?.find((event) => event.activityTaskScheduledEventAttributes?.activityId === id);
  };
  const told = await Promise.all(listed.map((one) => wholeOf(link, one, { scheduling, late })));
  stop.abort();
  return told;
}

interface Told {
  /** Of the activity with this id, if it is near the end of the history. */
  readonly scheduling: (id: string) => Promise<RawEvent | undefined>;
  readonly late: Promise<undefined>;
}

async function wholeOf(
  link: Link,
  { raw: { lastFailure, heartbeatDetails }, pending }: Listed,
  { scheduling, late }: Told,
): Promise<PendingActivity> {
  if (pending.failure?.lost) {
    const event = await scheduling(pending.id);
    const summary = event?.userMetadata?.summary;
    const named =
      summary == null ? undefined : await Promise.race([decoded(link, [summary]), late]);
    return typeof named === 'string' ? { ...pending, summary: named } : pending;
  }
  const isTimedOut = pending.failure?.timedOut === true;
  if (!isTimedOut && !isRefused(pending)) return pending;
  const [facts, progress] = await Promise.all([
    Promise.race([decoded(link, lastFailure?.applicationFailureInfo?.details?.payloads), late]),
    Promise.race([decoded(link, heartbeatDetails?.payloads), late]),
  ]);
  const told = { ...pending, failure: { ...pending.failure!, facts }, progress };
  if (!isTimedOutIdle(told)) return told;
  const first = await scheduling(pending.id);
  return { ...told, scheduledAt: msOf(first?.eventTime) };
}

/** When an activity was first scheduled, and what for, only the history tells. */
async function lastEvents(link: Link, { workflowExecutionInfo: info }: Described) {
  const request = {
    namespace: link.namespace,
    execution: info?.execution ?? null,
    maximumPageSize: EVENTS_LOOKED_AT,
  };
  const { history } = await bounded(link, {}, () =>
    link.connection.workflowService.getWorkflowExecutionHistoryReverse(request),
  ).catch(() => ({ history: undefined }));
  return history?.events ?? undefined;
}

function failureOf(failure: RawFailure, raw: RawActivity): PendingFailure {
  const timeout = failure.timeoutFailureInfo?.timeoutType;
  const at = [raw.lastAttemptCompleteTime, raw.lastStartedTime, raw.scheduledTime].map(msOf);
  return {
    type: failure.applicationFailureInfo?.type ?? undefined,
    message: failure.message ?? '',
    facts: undefined,
    ...(timeout === START_TO_CLOSE && { timedOut: true }),
    ...(timeout === HEARTBEAT && { lost: true }),
    at: at.find((one) => one !== undefined) ?? 0,
  };
}

/** The first value; undefined: there is none, or none that can be read. */
async function decoded(link: Link, payloads: Payload[] | null | undefined): Promise<unknown> {
  const [first] = payloads ?? [];
  if (first === undefined || (first.data?.length ?? 0) > PAYLOAD_BYTES_MAX) return undefined;
  const { payloadCodecs, payloadConverter } = link.temporal.options.loadedDataConverter;
  try {
    let current = [first];
    for (const codec of payloadCodecs.toReversed()) current = await codec.decode(current);
    const [plain] = current;
    return plain === undefined ? undefined : payloadConverter.fromPayload(plain);
  } catch {
    return undefined;
  }
}

/** ms since epoch. */
function msOf(time: RawTime): number | undefined {
  if (time == null) return undefined;
  const ms = Number(time.seconds ?? 0) * 1_000 + Math.floor((time.nanos ?? 0) / 1_000_000);
  return ms > 0 ? ms : undefined;
}
