/** Waiting for a run: for its result, or until it needs a person. */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../core/state/errors.js';
import type { AskView } from '../../core/state/ask-view.js';
import type { RunResult } from '../../core/state/result.js';
import type { RunView } from '../../core/state/view.js';
import { executionOf } from './execution.js';
import type { Link } from '../link.js';
import { isCancelled, isPassedDeadline, isUnreachable, serverFailure } from '../server-failure.js';
import { readState } from './state.js';

/** How long a wait may take, and what ends it. */
export interface WaitOptions {
  /** Longest wait, in ms; default: as long as it takes. */
  readonly timeoutMs?: number;
  /** Ends the wait; the run goes on. */
  readonly signal?: AbortSignal;
}

/** A run has ended, or waits for a person. */
export type Outcome =
  | { readonly kind: 'ended'; readonly result: RunResult }
  | { readonly kind: 'waiting'; readonly status: string; readonly asks: readonly WaitingAsk[] };

/** A question; one of a sub-agent tells its run, its root and the agents on the way. */
export interface WaitingAsk extends AskView {
  readonly runId?: string;
  readonly root?: string;
  readonly agentPath?: readonly string[];
}

/** One long poll of the server; waiting longer means another one. */
const STRETCH_MS = 20_000;
/** How long the server may be away before the wait gives up, in ms. */
const OUTAGE_LIMIT_MS = 60_000;
const OUTAGE_PAUSE_MS = 500;
const POLL_MS = { first: 200, last: 2_000 } as const;
const QUERY_LIMIT_MS = 3_000;
const ASKS_MAX = 100;

export async function resultOf(
  link: Link,
  runId: string,
  options: WaitOptions = {},
): Promise<RunResult> {
  const deadline = performance.now() + (options.timeoutMs ?? Number.POSITIVE_INFINITY);
  let lastAnswer = performance.now();
  for (;;) {
    if (options.signal?.aborted) throw stillRunning(runId, 'the wait was ended');
    const left = deadline - performance.now();
    if (left <= 0) throw stillRunning(runId, `it has not ended within ${options.timeoutMs} ms`);
    try {
      return await oneStretch(link, runId, {
        limitMs: Math.min(STRETCH_MS, left),
        signal: options.signal,
      });
    } catch (error) {
      if (options.signal?.aborted) throw stillRunning(runId, 'the wait was ended');
      const failure = serverFailure(error, { ...link, runId });
      // Nobody has ended the wait: a poll that was cancelled is made again.
      const again = isPassedDeadline(error) || isUnreachable(error) || isCancelled(error);
      if (!again) throw failure;
      if (await answers(link, runId)) lastAnswer = performance.now();
      if (performance.now() - lastAnswer > OUTAGE_LIMIT_MS) throw failure;
    }
  }
}

/** A passed deadline alone does not tell a long run from a server that is gone. */
async function answers(link: Link, runId: string): Promise<boolean> {
  try {
    await executionOf(link, runId, 'brief');
    return true;
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== 'ServerUnavailable') throw error;
    await sleep(OUTAGE_PAUSE_MS);
    return false;
  }
}

interface Stretch {
  readonly limitMs: number;
  readonly signal: AbortSignal | undefined;
}

async function oneStretch(
  { connection, temporal }: Link,
  runId: string,
  { limitMs, signal }: Stretch,
): Promise<RunResult> {
  // An abandoned poll would go on for as long as it may, and keep its process alive. The SDK never takes its
  // listeners off the signal, so each stretch has one of its own.
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const end = (): void => stop.abort();
  signal?.addEventListener('abort', end, { once: true });
  try {
    const result: unknown = await connection.withAbortSignal(stop.signal, () =>
      connection.withDeadline(Date.now() + limitMs, () =>
        temporal.workflow.getHandle(runId).result(),
      ),
    );
    return result as RunResult;
  } finally {
    signal?.removeEventListener('abort', end);
  }
}

/** The result, or what the run waits for. Needs a worker only to say that it waits. */
export async function outcomeOf(
  link: Link,
  runId: string,
  options: WaitOptions = {},
): Promise<Outcome> {
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  const ended = resultOf(link, runId, { ...options, signal }).then((result): Outcome => ({
    kind: 'ended',
    result,
  }));
  // The loser of the race is abandoned; its failure must not be taken for an unhandled one.
  ended.catch(() => undefined);
  try {
    return await Promise.race([ended, waitingFor(link, runId, signal)]);
  } finally {
    stop.abort();
  }
}

/** Resolves when the run or a sub-agent below it waits for a person; never, when it ends before that. */
async function waitingFor(link: Link, runId: string, signal: AbortSignal): Promise<Outcome> {
  let pause: number = POLL_MS.first;
  while (!signal.aborted) {
    if (await mayWait(link, runId)) {
      const view = await readState(link, runId, QUERY_LIMIT_MS).catch(() => undefined);
      const waiting = view === undefined ? await storedWaiting(link, runId) : waitingOf(view);
      if (waiting !== undefined) return waiting;
    }
    const below = await waitingBelow(link, runId);
    if (below !== undefined) return below;
    await sleep(pause, undefined, { signal }).catch(() => undefined);
    pause = Math.min(pause * 1.5, POLL_MS.last);
  }
  return new Promise(() => undefined);
}

function waitingOf(view: RunView): Outcome | undefined {
  // A goal that waits for its worker waits for nobody else.
  const status: string = view.status;
  if (!status.startsWith('awaiting_') || status === 'awaiting_worker') return undefined;
  return { kind: 'waiting', status: view.status, asks: view.asks };
}

/** The store is asked first, because that costs the worker nothing; without one the run must say. */
async function mayWait(link: Link, runId: string): Promise<boolean> {
  const row = await link.store?.getRun(link.tenant, runId);
  return row === undefined || row.status.startsWith('awaiting_');
}

/** Only while no worker answers: the store may be behind the run by a moment. */
async function storedWaiting(link: Link, runId: string): Promise<Outcome | undefined> {
  const row = await link.store?.getRun(link.tenant, runId);
  if (row === undefined || !row.status.startsWith('awaiting_')) return undefined;
  const query = { runId, pendingOnly: true, limit: ASKS_MAX };
  const asks = await link.store?.listAsks(link.tenant, query);
  return { kind: 'waiting', status: row.status, asks: asks ?? [] };
}

/** Questions of sub-agents: the run itself is at work as long as they wait. Only the store knows the tree. */
async function waitingBelow({ store, tenant }: Link, runId: string): Promise<Outcome | undefined> {
  const query = { under: runId, pendingOnly: true, limit: ASKS_MAX };
  const asks = (await store?.listAsks(tenant, query))?.filter((ask) => ask.runId !== runId) ?? [];
  const [first] = asks;
  if (first === undefined) return undefined;
  const status = (await store?.getRun(tenant, first.runId))?.status ?? '';
  return status.startsWith('awaiting_') ? { kind: 'waiting', status, asks } : undefined;
}

function stillRunning(runId: string, why: string): HoldfastError {
  return new HoldfastError('NetworkTimeout', `Run ${runId} goes on: ${why}.`, {
    hint: `Wait for it again with \`holdfast watch ${runId}\`.`,
    details: { runId },
  });
}
