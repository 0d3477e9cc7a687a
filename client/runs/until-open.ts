/** Waiting until a run or goal that was started is open. */
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../core/state/errors.js';
import { DEFAULT_SETTINGS } from '../../core/state/settings.js';
import { executionOf } from './execution.js';
import { holdUpOf, isAtWork, type HoldUp } from './hold-up.js';
import { bounded, openLimitOf, type Link } from '../link.js';
import { NO_WORKER_MS } from './served-agents.js';
import { readState } from './state.js';

const QUERY_LIMIT_MS = 2_000;
const POLL_MS = 100;
/** Of one that is late already. */
const SLOW_POLL_MS = 1_000;
/** The longest for which Temporal holds a task back that was lost with its workers. */
const GOES_ON_LIMIT_MS = 600_000;
/** With `wait: true`: as long as the run itself waits. */
const WAIT_LIMIT_MS = DEFAULT_SETTINGS.unservedTimeoutMs;

/** What a start says of its wait. */
export interface WaitWanted {
  readonly wait?: boolean | undefined;
  readonly openLimitMs?: number | undefined;
}

export interface Waiting {
  readonly limitMs: number;
  /** The same while the run goes on by itself: a task of it was only lost with a worker, or workers are busy. */
  readonly goesOnLimitMs: number;
  /** Without any worker the wait ends. */
  readonly needsWorker: boolean;
}

/** A limit that is given is the longest wait, whatever holds the run up. */
export function waitingOf(link: Link, { wait, openLimitMs }: WaitWanted): Waiting {
  const limitMs = openLimitMs ?? (wait === true ? WAIT_LIMIT_MS : openLimitOf(link));
  const goesOnLimitMs = openLimitMs ?? Math.max(limitMs, GOES_ON_LIMIT_MS);
  return { limitMs, goesOnLimitMs, needsWorker: wait !== true };
}

/** Waits until the run is open; a run that could not be opened throws why (InvalidTask, UnknownAgent …). */
export async function untilOpen(
  link: Link,
  runId: string,
  { signal, ...waiting }: Waiting & { readonly signal: AbortSignal | undefined },
): Promise<void> {
  const began = performance.now();
  const { limitMs, goesOnLimitMs, needsWorker } = waiting;
  let nextLook = nextLookAfter(0, waiting);
  for (;;) {
    if (signal?.aborted) return;
    const execution = await executionOf(link, runId);
    if (execution.closed) {
      await bounded(link, { runId }, () => link.temporal.workflow.getHandle(runId).result());
      return;
    }
    if (isAtWork(execution)) return;
    const silence = await openness(
      link,
      runId,
      Math.max(1, nextLook - (performance.now() - began)),
    );
    if (silence === 'open') return;
    const waitedMs = performance.now() - began;
    if (waitedMs >= nextLook) {
      const held = await holdUpOf(link, execution);
      const isMissed = needsWorker && held.kind === 'no_worker';
      const most = held.goesOn ? goesOnLimitMs : limitMs;
      if (isMissed || waitedMs >= most) throw notOpened(link, { runId, held, waitedMs, silence });
      nextLook = nextLookAfter(waitedMs, waiting);
    }
    const pause = waitedMs < limitMs ? POLL_MS : SLOW_POLL_MS;
    await sleep(pause, undefined, { signal }).catch(() => undefined);
  }
}

/** What holds a run up is looked at seldom, and when a limit is over. */
function nextLookAfter(waitedMs: number, { limitMs, goesOnLimitMs }: Waiting): number {
  const limits = [limitMs, goesOnLimitMs].filter((limit) => limit > waitedMs);
  return Math.min(waitedMs + NO_WORKER_MS, ...limits);
}

/** What kept it from being told, where it was not. */
async function openness(link: Link, runId: string, leftMs: number): Promise<unknown> {
  try {
    const state = await readState(link, runId, Math.min(QUERY_LIMIT_MS, leftMs));
    return state.opened ? 'open' : undefined;
  } catch (error) {
    return error;
  }
}

interface NotOpened {
  readonly runId: string;
  readonly held: HoldUp;
  readonly waitedMs: number;
  /** What the last question failed with. */
  readonly silence: unknown;
}

function notOpened(
  { taskQueue }: Link,
  { runId, held, waitedMs, silence }: NotOpened,
): HoldfastError {
  const { kind, says, next, workers } = held;
  const late = kind === 'no_worker' ? '' : `was not open after ${Math.round(waitedMs / 1000)} s: `;
  return new HoldfastError('ServerUnavailable', `Run ${runId} is started, but ${late}${says}.`, {
    hint: next,
    details: { runId, taskQueue, workers, heldBy: kind },
    cause: silence,
  });
}
