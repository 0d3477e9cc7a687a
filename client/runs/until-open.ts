/** Waiting until a run or goal that was started is open. */
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../core/state/errors.js';
import { executionOf } from './execution.js';
import { bounded, type Link } from '../link.js';
import { START_A_WORKER } from '../server-failure.js';
import { NO_WORKER_MS } from './served-agents.js';
import { readState } from './state.js';
import { workerCount } from '../workers.js';

const QUERY_LIMIT_MS = 2_000;
const POLL_MS = 100;

export interface Waiting {
  readonly limitMs: number;
  readonly signal: AbortSignal | undefined;
  /** Without any worker the wait ends. */
  readonly needsWorker: boolean;
}

/** Waits until the run is open; a run that could not be opened throws why (InvalidTask, UnknownAgent …). */
export async function untilOpen(
  link: Link,
  runId: string,
  { limitMs, signal, needsWorker }: Waiting,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  let silence: unknown;
  let nextLook = performance.now() + NO_WORKER_MS;
  while (performance.now() < deadline) {
    if (signal?.aborted) return;
    const execution = await executionOf(link, runId);
    if (execution.closed) {
      await bounded(link, { runId }, () => link.temporal.workflow.getHandle(runId).result());
      return;
    }
    try {
      const left = Math.max(1, deadline - performance.now());
      const state = await readState(link, runId, Math.min(QUERY_LIMIT_MS, left));
      if (state.opened) return;
    } catch (error) {
      silence = error;
    }
    if (performance.now() > nextLook) {
      if (needsWorker && (await workerCount(link)) === 0) break;
      nextLook = performance.now() + NO_WORKER_MS;
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  throw await notOpened(link, runId, { limitMs, silence });
}

async function notOpened(
  link: Link,
  runId: string,
  waited: { readonly limitMs: number; readonly silence: unknown },
): Promise<HoldfastError> {
  const workers = await workerCount(link);
  const { attempt, activities } = await executionOf(link, runId);
  const seconds = Math.round(waited.limitMs / 1000);
  const details = { runId, taskQueue: link.taskQueue, workers };
  const cause = waited.silence;
  if (workers === 0) {
    return new HoldfastError(
      'ServerUnavailable',
      `Run ${runId} is started, but no worker is running on task queue ${link.taskQueue}.`,
      { hint: `${START_A_WORKER} The run begins as soon as one is there.`, details, cause },
    );
  }
  const held =
    activities.find((activity) => activity.lastFailure !== undefined)?.lastFailure ??
    (attempt > 1 ? 'its workflow task keeps failing' : 'the worker has not opened it yet');
  return new HoldfastError(
    'ServerUnavailable',
    `Run ${runId} is started, but was not open after ${seconds} s: ${held}.`,
    {
      hint: `See \`holdfast show ${runId}\` and \`holdfast doctor\`; nothing is lost.`,
      details,
      cause,
    },
  );
}
