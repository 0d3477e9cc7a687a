/** Waiting until a run or goal that was started is open. */
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../core/state/errors.js';
import { DEFAULT_SETTINGS } from '../../core/state/settings.js';
import { executionOf } from './execution.js';
import { holdUpOf, isAtWork, withoutStore, type HoldUp, type HoldUpKind } from './hold-up.js';
import { bounded, openLimitOf, type Link } from '../link.js';
import { NO_WORKER_MS } from './served-agents.js';
import { readState } from './state.js';

const QUERY_LIMIT_MS = 2_000;
const POLL_MS = 100;
/** Of a limit that is given the opening has half, and time to open at all, whatever went by before the start. */
const OPENING_MS_MIN = 1_000;
/** Of one that is late already. */
const SLOW_POLL_MS = 1_000;
/** The longest for which Temporal holds a task back that was lost with its workers. */
const GOES_ON_LIMIT_MS = 600_000;
/** With `wait: true`: as long as the run itself waits. */
const WAIT_LIMIT_MS = DEFAULT_SETTINGS.unservedTimeoutMs;

/** Why a run that is started is not open yet. */
export interface HeldUp {
  readonly runId: string;
  readonly heldBy: HoldUpKind;
  /** One sentence. */
  readonly message: string;
  /** What to do. */
  readonly hint: string;
  readonly waitedMs: number;
}

/** What a start says of its wait. */
export interface WaitWanted {
  readonly wait?: boolean | undefined;
  readonly openLimitMs?: number | undefined;
  readonly onHeldUp?: ((heldUp: HeldUp) => void) | undefined;
}

export interface Waiting {
  readonly limitMs: number;
  /** The same while the run goes on by itself: a task of it was only lost with a worker, or workers are busy. */
  readonly goesOnLimitMs: number;
  /** Since when a limit that is given counts. */
  readonly began?: number;
  /** What went by before it was started, of a limit that is given. */
  readonly beforeMs?: number;
  /** The store of whoever starts could not be reached. */
  readonly storeAway?: boolean;
  /** Without any worker the wait ends. */
  readonly needsWorker: boolean;
  readonly onHeldUp?: ((heldUp: HeldUp) => void) | undefined;
}

/** A limit that is given is the longest wait, whatever holds the run up. */
export function waitingOf(link: Link, { wait, openLimitMs, onHeldUp }: WaitWanted): Waiting {
  const limitMs = openLimitMs ?? (wait === true ? WAIT_LIMIT_MS : openLimitOf(link));
  const goesOnLimitMs = openLimitMs ?? Math.max(limitMs, GOES_ON_LIMIT_MS);
  return {
    limitMs,
    goesOnLimitMs,
    needsWorker: wait !== true,
    // A limit of ours is one of the opening alone.
    ...(openLimitMs !== undefined && { began: performance.now() }),
    ...(onHeldUp !== undefined && { onHeldUp }),
  };
}

/** The wait that is left when it is started. `own`: what is sent of the store, nothing where it could not be asked. */
export function afterStart<Wait extends Waiting>(
  { store }: Link,
  waiting: Wait,
  own: { readonly store?: string },
): Wait {
  const { limitMs, began } = waiting;
  const beforeMs = began === undefined ? 0 : performance.now() - began;
  const openingMs = Math.min(limitMs, Math.max(OPENING_MS_MIN, limitMs / 2));
  const storeAway = store !== undefined && own.store === undefined;
  return { ...waiting, storeAway, beforeMs: Math.min(beforeMs, limitMs - openingMs) };
}

/** Waits until the run is open; a run that could not be opened throws why (InvalidTask, UnknownAgent …). */
export async function untilOpen(
  starter: Link,
  runId: string,
  { signal, ...waiting }: Waiting & { readonly signal: AbortSignal | undefined },
): Promise<void> {
  const { limitMs, goesOnLimitMs, needsWorker, onHeldUp, beforeMs = 0, storeAway } = waiting;
  const link = { ...starter, isUnderWay: true };
  const began = performance.now() - beforeMs;
  let nextLook = nextLookAfter(beforeMs, waiting);
  for (;;) {
    if (signal?.aborted) return;
    const execution = await executionOf(link, runId, 'brief');
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
      const found = await holdUpOf(link, execution);
      const held = storeAway === true ? withoutStore(found) : found;
      const isMissed = needsWorker && held.kind === 'no_worker';
      const most = held.goesOn ? goesOnLimitMs : limitMs;
      const late = { runId, held, waitedMs };
      if (isMissed || waitedMs >= most) throw notOpened(link, late, silence);
      onHeldUp?.(heldUp(late));
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

interface Late {
  readonly runId: string;
  readonly held: HoldUp;
  readonly waitedMs: number;
}

function heldUp({ runId, held, waitedMs }: Late): HeldUp {
  const { kind, says, next } = held;
  const late = kind === 'no_worker' ? '' : `was not open after ${Math.round(waitedMs / 1000)} s: `;
  const message = `Run ${runId} is started, but ${late}${says}.`;
  return { runId, heldBy: kind, message, hint: next, waitedMs };
}

function notOpened({ taskQueue }: Link, late: Late, silence: unknown): HoldfastError {
  const { runId, heldBy, message, hint } = heldUp(late);
  const { goesOn, workers } = late.held;
  return new HoldfastError('ServerUnavailable', message, {
    hint: goesOn ? `${hint} ${WAIT_ON}` : hint,
    details: { runId, taskQueue, workers, heldBy },
    // What the last question failed with.
    cause: silence,
  });
}

const WAIT_ON = 'Start it again with the same id to wait on, or give a longer openLimitMs.';
