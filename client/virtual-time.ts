/**
 * The clock of Temporal's test server, and what its workflows wait for.
 * Invariant: the server's time goes like the machine's except while `advance` is under way.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { InternalConnectionOptionsSymbol } from '@temporalio/client/lib/connection';
import { NAMESPACE, SEARCH_ATTRIBUTES } from '../devserver/index.js';

export interface VirtualTime {
  close(): Promise<void>;
  /** Of the server, ms since epoch. */
  now(): number;
  /** Moves the server's time by so many ms; while an activity runs it goes no faster than the machine's. Errors: TimeHeld. */
  advance(ms: number): Promise<void>;
  waitOf(workflowId: string): Promise<WorkflowWait>;
}

/** The server's time does not move; from now on nothing of the server's time can be relied on. */
export class TimeHeld extends Error {
  constructor(ms: number, cause: unknown) {
    super(`The time-skipping server did not move its time by ${ms} ms.`, { cause });
  }
}

/** What the current execution of a workflow waits for. */
export interface WorkflowWait {
  /** For a worker: a workflow task or an activity is not over. */
  readonly isBusy: boolean;
  /** When the first timer that it has set rings, ms since epoch; absent: none is set. */
  readonly timerAt?: number;
  /** Grows with everything that happens to the execution. */
  readonly events: number;
}

/** Temporal's number of the type of search attributes that are whole words. */
const KEYWORD = 2;
const NUDGE_MS = 500;
const CALL_LIMIT_MS = 10_000;
/** Moving time takes the server milliseconds; longer: something holds it. */
const ADVANCE_LIMIT_MS = 15_000;

type History = Awaited<
  ReturnType<Connection['workflowService']['getWorkflowExecutionHistory']>
>['history'];
type HistoryEvent = NonNullable<NonNullable<NonNullable<History>['events']>[number]>;

interface Instant {
  readonly seconds?: { toString(): string } | number | null;
  readonly nanos?: number | null;
}

/** One attempt to reach a test server that is starting; it is given what runs are listed by. Errors: any. */
export async function openVirtualTime(address: string): Promise<VirtualTime> {
  const connection = await Connection.connect({
    address,
    connectTimeout: '2s',
    [InternalConnectionOptionsSymbol]: { supportsTestService: true },
  } as Parameters<typeof Connection.connect>[0]);
  try {
    await prepare(connection);
    return await timeOf(connection);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function prepare(connection: Connection): Promise<void> {
  const searchAttributes = Object.fromEntries(
    Object.keys(SEARCH_ATTRIBUTES).map((name) => [name, KEYWORD]),
  );
  await connection.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
    connection.operatorService.addSearchAttributes({ namespace: NAMESPACE, searchAttributes }),
  );
}

async function timeOf(connection: Connection): Promise<VirtualTime> {
  if (connection.testService === undefined) throw new Error('its time cannot be moved');
  const service = connection.testService;
  /** The server's clock is ahead of the machine's by so much. */
  let aheadMs = 0;
  const bounded = <T>(limitMs: number, call: () => Promise<T>): Promise<T> =>
    connection.withDeadline(Date.now() + limitMs, call);
  const look = async (): Promise<void> => {
    const { time } = await bounded(CALL_LIMIT_MS, () => service.getCurrentTime({}));
    aheadMs = msOf(time) - Date.now();
  };
  /** A server that overlooks that its time may move looks again when this changes. */
  async function nudge(over: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(NUDGE_MS, undefined, { signal: over }).catch(() => undefined);
      if (over.aborted) return;
      await bounded(CALL_LIMIT_MS, () => service.lockTimeSkipping({}));
      await bounded(CALL_LIMIT_MS, () => service.unlockTimeSkipping({}));
    }
  }
  await look();
  return {
    close: () => connection.close(),
    now: () => Date.now() + aheadMs,
    async advance(ms) {
      if (ms > 0) {
        const duration = { seconds: Math.floor(ms / 1_000), nanos: (ms % 1_000) * 1_000_000 };
        const moved = bounded(ADVANCE_LIMIT_MS, () =>
          service.unlockTimeSkippingWithSleep({ duration: duration as never }),
        );
        const over = new AbortController();
        const nudging = nudge(over.signal);
        try {
          await moved;
        } catch (cause) {
          throw new TimeHeld(ms, cause);
        } finally {
          over.abort();
          await nudging;
        }
      }
      await look();
    },
    waitOf: (workflowId) => waitOf(connection, workflowId),
  };
}

async function waitOf(connection: Connection, workflowId: string): Promise<WorkflowWait> {
  const open = openWork();
  let nextPageToken: Uint8Array | undefined;
  do {
    const token = nextPageToken;
    const page = await connection.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
      connection.workflowService.getWorkflowExecutionHistory({
        namespace: NAMESPACE,
        execution: { workflowId },
        ...(token !== undefined && { nextPageToken: token }),
      }),
    );
    for (const event of page.history?.events ?? []) open.note(event);
    nextPageToken = page.nextPageToken?.length > 0 ? page.nextPageToken : undefined;
  } while (nextPageToken !== undefined);
  return open.wait();
}

/** What the events of a history have begun and not ended. */
function openWork() {
  const timers = new Map<string, number>();
  const activities = new Set<string>();
  let hasTask = false;
  let events = 0;
  return {
    note(event: HistoryEvent): void {
      events += 1;
      const { timerStartedEventAttributes: set, activityTaskScheduledEventAttributes: begun } =
        event;
      if (set != null) {
        timers.set(set.timerId ?? '', msOf(event.eventTime) + msOf(set.startToFireTimeout));
      }
      const rung = event.timerFiredEventAttributes ?? event.timerCanceledEventAttributes;
      if (rung != null) timers.delete(rung.timerId ?? '');
      if (begun != null) activities.add(String(event.eventId));
      const ended =
        event.activityTaskCompletedEventAttributes ??
        event.activityTaskFailedEventAttributes ??
        event.activityTaskTimedOutEventAttributes ??
        event.activityTaskCanceledEventAttributes;
      if (ended != null) activities.delete(String(ended.scheduledEventId));
      if (event.workflowTaskScheduledEventAttributes != null) hasTask = true;
      const done =
        event.workflowTaskCompletedEventAttributes ??
        event.workflowTaskFailedEventAttributes ??
        event.workflowTaskTimedOutEventAttributes;
      if (done != null) hasTask = false;
    },
    wait(): WorkflowWait {
      const timerAt = Math.min(...timers.values());
      return {
        isBusy: hasTask || activities.size > 0,
        ...(Number.isFinite(timerAt) && { timerAt }),
        events,
      };
    },
  };
}

function msOf(time: Instant | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1_000 + Math.ceil((time?.nanos ?? 0) / 1_000_000);
}
