/**
 * A run's events as they happen: read from the store with a cursor, when it says that there are some, and
 * otherwise polled with back-off.
 * Invariants: in order, each once, except after a reset in Temporal, when reading goes on where the new line
 * of events begins; ends after `run_result` or `goal_result`, or when a run that has ended brings nothing more.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../core/state/errors.js';
import type { RunEvent } from '../../core/state/event.js';
import type { ChangeWatch } from '../../store/changes.js';
import * as messages from '../../workflows/messages.js';
import { askWorker } from '../ask-worker.js';
import { executionOf } from '../runs/execution.js';
import type { Link } from '../link.js';

/** From where events are read, and whether they are followed. */
export interface EventsOptions {
  /** First seq wanted; default 0. */
  readonly since?: number;
  /** Ends the stream; the run goes on. */
  readonly signal?: AbortSignal;
  /** Ends when everything known now has been given; default false. */
  readonly untilNow?: boolean;
  /** A run that is not there yet is waited for; default: an error. */
  readonly awaited?: boolean;
  /** Called when everything known has been given, before more is waited for. */
  readonly onQuiet?: () => void;
}

const PAGE_EVENTS = 200;
const POLL_MS = { first: 50, last: 1_000 } as const;
/** After this many empty polls Temporal is asked whether the run is still there. */
const EMPTY_POLLS = 8;

interface Page {
  readonly events: readonly RunEvent[];
  readonly next: number;
}

type Reader = (since: number) => Promise<Page>;

export async function* eventsOf(
  link: Link,
  runId: string,
  options: EventsOptions = {},
): AsyncGenerator<RunEvent, void, undefined> {
  const watch = lazyWatch(link, runId);
  try {
    yield* follow({ link, runId, watch }, options);
  } finally {
    watch.stop();
  }
}

interface Followed {
  readonly link: Link;
  readonly runId: string;
  readonly watch: ChangeWatch;
}

async function* follow(
  { link, runId, watch }: Followed,
  { signal, untilNow = false, awaited = false, onQuiet, ...options }: EventsOptions,
): AsyncGenerator<RunEvent, void, undefined> {
  const read = link.store === undefined ? runReader(link, runId) : storeReader(link, runId);
  let since = Math.max(0, Math.floor(options.since ?? 0));
  let pause: number = POLL_MS.first;
  let empty = 0;
  let ended = false;
  while (!signal?.aborted) {
    const page = await read(since);
    for (const event of page.events) {
      yield event;
      if (event.type === 'run_result' || event.type === 'goal_result') return;
    }
    since = page.next;
    if (page.events.length > 0) {
      pause = POLL_MS.first;
      empty = 0;
      continue;
    }
    if (untilNow || ended) return;
    onQuiet?.();
    // One more read after that, because the last events may have come in between.
    const isPatient = awaited && since === 0;
    if (empty % EMPTY_POLLS === 0 && !isPatient) ended = await runHasEnded(link, runId, since > 0);
    empty += 1;
    if (!ended) await watch.wait(pause, signal);
    pause = Math.min(pause * 1.5, POLL_MS.last);
  }
}

/** Watches from the first wait on, which does not wait: something may have come before anybody watched. */
function lazyWatch(link: Link, runId: string): ChangeWatch {
  let watch: ChangeWatch | undefined;
  return {
    async wait(limitMs, signal) {
      if (watch !== undefined) return watch.wait(limitMs, signal);
      watch = link.store?.watchEvents({ tenant: link.tenant, runId }) ?? {
        wait: pauseFor,
        stop() {},
      };
    },
    stop: () => watch?.stop(),
  };
}

async function pauseFor(limitMs: number, signal?: AbortSignal): Promise<void> {
  await sleep(limitMs, undefined, { signal }).catch(() => undefined);
}

function storeReader(link: Link, runId: string): Reader {
  let epoch: number | undefined;
  return async (since) => {
    const page = await link.store!.readEvents(
      { tenant: link.tenant, runId },
      { sinceSeq: since, limit: PAGE_EVENTS, ...(epoch !== undefined && { epoch }) },
    );
    epoch = page.epoch;
    return { events: page.events, next: page.nextSeq };
  };
}

/** Without a store: only what the run has not handed over yet. */
function runReader(link: Link, runId: string): Reader {
  return async (since) => {
    const events = await askWorker(link, { runId }, () =>
      link.temporal.workflow.getHandle(runId).query(messages.events, since),
    );
    return { events, next: (events.at(-1)?.stamp.seq ?? since - 1) + 1 };
  };
}

/** Whether Temporal knows that the run is over. An unreachable server is not an end. */
export async function runHasEnded(link: Link, runId: string, known: boolean): Promise<boolean> {
  try {
    return (await executionOf(link, runId, 'brief')).closed;
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    if (error.code === 'ServerUnavailable') return false;
    if (error.code === 'RunNotFound' && known) return true;
    throw error;
  }
}
