/**
 * Starting a run.
 * Invariants: a task that cannot work is refused before anything is sent; the workflow id is the run id, so
 * that a repeated start finds the run instead of making a second one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { HoldfastError } from '../../core/state/errors.js';
import type { RunResult } from '../../core/state/result.js';
import { DEFAULT_SETTINGS } from '../../core/state/settings.js';
import type { StartInput } from '../../core/state/task.js';
import { AGENT_RUN } from '../../workflows/messages.js';
import { checkStart, type StartRequest } from './check-start.js';
import { executionOf, TENANT } from './execution.js';
import { chooseSession, type SessionOptions } from './choose-session.js';
import { bounded, type Link } from '../link.js';
import { ensureNamespaceReady } from '../namespace.js';
import { runHandle, type RunHandle } from './run-handle.js';
import { checkRunId, newRunId } from './run-id.js';
import { START_A_WORKER } from '../server-failure.js';
import { NO_WORKER_MS, refuseUnserved } from './served-agents.js';
import { readState } from './state.js';
import { STORE_AWAY, unlessStoreAway } from '../store-away.js';
import { workerCount } from '../workers.js';

export interface StartOptions extends StartRequest, SessionOptions {
  /** Default: a new `run_<ulid>`. The same id again gives the run that is under way. */
  readonly runId?: string;
  /**
   * Absent: the start is refused when no living worker serves the agent, and waits until the run is open, so that a bad
   * task is an error here. True: it waits for a worker as well. False: it waits for nothing.
   */
  readonly wait?: boolean;
  /**
   * Longest wait until it is open, in ms; default 30,000, and with `wait: true` a day. Without any worker it ends
   * earlier, unless that is waited for.
   */
  readonly openLimitMs?: number;
  /**
   * How long a run waits for a worker that died with one of its decisions in hand, in ms; default: the
   * server's 10 s.
   */
  readonly decisionTimeoutMs?: number;
}

const OPEN_LIMIT_MS = 30_000;
const QUERY_LIMIT_MS = 2_000;
/** With `wait: true`: as long as the run itself waits. */
const WAIT_LIMIT_MS = DEFAULT_SETTINGS.unservedTimeoutMs;
const POLL_MS = 100;
const SUMMARY_CHARS_MAX = 120;

const AGENT = defineSearchAttributeKey('HoldfastAgent', SearchAttributeType.KEYWORD);

/** `signal` ends the wait until the run is open, not the run. */
export async function startRun(
  link: Link,
  options: StartOptions,
  signal?: AbortSignal,
): Promise<RunHandle> {
  const tenant = options.tenant ?? link.tenant;
  const runId = options.runId === undefined ? newRunId() : checkRunId(options.runId);
  const session = await chooseSession({ ...link, tenant }, runId, options);
  const start = checkStart({ ...options, tenant, ...(session !== undefined && { session }) });
  const { decisionTimeoutMs, wait, openLimitMs } = options;
  const limitMs = openLimitMs ?? (wait === true ? WAIT_LIMIT_MS : OPEN_LIMIT_MS);
  if (wait === undefined) {
    await refuseUnserved(link, { agent: start.agent, runId: options.runId, limitMs, signal });
  }
  await startPrepared(link, {
    runId,
    start: { ...start, ...(await ownStore(link)) },
    ...(decisionTimeoutMs !== undefined && { decisionTimeoutMs }),
  });
  // A new id of ours is nobody else's.
  if (options.runId !== undefined) await checkTenant({ ...link, tenant }, runId);
  if (wait !== false) await untilOpen(link, runId, { limitMs, signal, needsWorker: wait !== true });
  return runHandle({ ...link, tenant }, runId);
}

/** A run is opened with the starter's store alone; while that is away, with the one that opens the run. */
async function ownStore({ store }: Link): Promise<Pick<StartInput, 'store'>> {
  if (store === undefined) return {};
  const own = await unlessStoreAway(store, (calls) => calls.identity(Date.now()));
  return own === STORE_AWAY ? {} : { store: own.id };
}

/** USE_EXISTING gives whatever run has the id: another tenant's is not for us, and not told of. */
async function checkTenant(link: Link, runId: string): Promise<void> {
  const { tenant } = await executionOf(link, runId);
  if (tenant === link.tenant) return;
  throw new HoldfastError('RunExists', `The run id ${runId} is taken.`, {
    hint: 'Start with another run id, or without one.',
    details: { runId },
  });
}

interface NewRun {
  readonly runId: string;
  readonly start: StartInput;
  readonly decisionTimeoutMs?: number;
}

/** A namespace that nobody has prepared yet is prepared on its first run. */
async function startPrepared(link: Link, run: NewRun): Promise<void> {
  try {
    await startWorkflow(link, run);
  } catch (error) {
    const reason = error instanceof Error ? error.message : '';
    if (!/search attribute/i.test(reason)) throw error;
    await ensureNamespaceReady(link);
    await startWorkflow(link, run);
  }
}

async function startWorkflow(
  link: Link,
  { runId, start, decisionTimeoutMs }: NewRun,
): Promise<void> {
  await bounded(link, { runId }, async () => {
    try {
      await link.temporal.workflow.start<(input: StartInput) => Promise<RunResult>>(AGENT_RUN, {
        workflowId: runId,
        taskQueue: link.taskQueue,
        args: [start],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        typedSearchAttributes: [
          { key: AGENT, value: start.agent },
          { key: TENANT, value: start.tenant ?? link.tenant },
        ],
        staticSummary: summaryOf(start),
        ...(decisionTimeoutMs !== undefined && { workflowTaskTimeout: decisionTimeoutMs }),
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      throw new HoldfastError('RunExists', `Run ${runId} has already ended; an id is used once.`, {
        hint: `See it with \`holdfast show ${runId}\`, or start with another run id.`,
        details: { runId },
        cause: error,
      });
    }
  });
}

/** One line for Temporal's web page, without what could be taken for markup. */
function summaryOf(start: StartInput): string {
  const goal = start.task.goal.replace(/[\p{C}\s*_`<>[\]#|~\\]+/gu, ' ').trim();
  const cut = goal.slice(0, SUMMARY_CHARS_MAX);
  return `${start.agent}: ${cut}${cut.length < goal.length ? '…' : ''}`;
}

interface Waiting {
  readonly limitMs: number;
  readonly signal: AbortSignal | undefined;
  /** Without any worker the wait ends. */
  readonly needsWorker: boolean;
}

/** Waits until the run is open; a run that could not be opened throws why (InvalidTask, UnknownAgent …). */
async function untilOpen(
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
