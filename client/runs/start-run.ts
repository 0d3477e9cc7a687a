/**
 * Starting a run.
 * Invariants: a task that cannot work is refused before anything is sent; the workflow id is the run id, so
 * that a repeated start finds the run instead of making a second one.
 */
import type { KnownFields } from '../../authoring/known-fields.js';
import { HoldfastError } from '../../core/state/errors.js';
import { AGENT_RUN } from '../../workflows/messages.js';
import { attachAll, type Attachable } from './attach.js';
import { checkNames, checkWaiting } from '../closed-options.js';
import { checkStart, REQUEST, type StartRequest } from './check-start.js';
import { executionOf } from './execution.js';
import { chooseSession, type SessionOptions } from './choose-session.js';
import type { Link } from '../link.js';
import { runHandle, type RunHandle } from './run-handle.js';
import { checkRunId, newRunId } from './run-id.js';
import { refuseUnserved } from './served-agents.js';
import { ownStore, startPrepared } from './start-workflow.js';
import { afterStart, untilOpen, waitingOf, type HeldUp } from './until-open.js';

/** A run that is to be started: its agent, its task, and how long the start may wait. */
export interface StartOptions extends StartRequest, SessionOptions {
  /** Default: a new `run_<ulid>`. The same id again gives the run that is under way. */
  readonly runId?: string;
  /**
   * Absent: the start is refused when no living worker serves the agent, and waits until the run is open, so that a bad
   * task is an error here. True: it waits for a worker as well. False: it waits for nothing.
   */
  readonly wait?: boolean;
  /**
   * Longest wait until it is open, in ms. Default: 30,000; ten minutes while nothing but a worker is late, as when a
   * task was lost with one; with `wait: true` a day. Without any worker it ends earlier, unless that is waited for.
   */
  readonly openLimitMs?: number;
  /** Told every 8 s while the start waits on for a run that is not open yet. */
  readonly onHeldUp?: (heldUp: HeldUp) => void;
  /**
   * How long a run waits for a worker that died with one of its decisions in hand, in ms; default: the
   * server's 10 s.
   */
  readonly decisionTimeoutMs?: number;
  /** Pictures, documents and sounds beside the goal: they go into the store first, for which the client needs it. */
  readonly attachments?: readonly Attachable[];
}

const OPTIONS: KnownFields<StartOptions> = {
  ...REQUEST,
  sessionId: true,
  resume: true,
  continue: true,
  fork: true,
  cwd: true,
  runId: true,
  wait: true,
  openLimitMs: true,
  onHeldUp: true,
  decisionTimeoutMs: true,
  attachments: true,
};

/** `signal` ends the wait until the run is open, not the run. */
export async function startRun(
  link: Link,
  options: StartOptions,
  signal?: AbortSignal,
): Promise<RunHandle> {
  checkNames(options, OPTIONS);
  checkWaiting(options);
  const tenant = options.tenant ?? link.tenant;
  const runId = options.runId === undefined ? newRunId() : checkRunId(options.runId);
  const session = await chooseSession({ ...link, tenant }, runId, options);
  const task = await withAttachments({ ...link, tenant }, options);
  const start = checkStart({ ...options, task, tenant, ...(session !== undefined && { session }) });
  const { decisionTimeoutMs, wait } = options;
  const waiting = { ...waitingOf(link, options), signal };
  if (wait === undefined) {
    await refuseUnserved(link, { agent: start.agent, runId: options.runId, ...waiting });
  }
  const own = await ownStore(link);
  await startPrepared(link, {
    type: AGENT_RUN,
    id: runId,
    input: { ...start, ...own },
    agent: start.agent,
    tenant,
    summary: start.task.goal,
    ...(decisionTimeoutMs !== undefined && { decisionTimeoutMs }),
  });
  // A new id of ours is nobody else's.
  if (options.runId !== undefined) await checkTenant({ ...link, tenant }, runId);
  if (wait !== false) await untilOpen(link, runId, afterStart(link, waiting, own));
  return runHandle({ ...link, tenant }, runId);
}

async function withAttachments(
  link: Link,
  { task, attachments: given }: Pick<StartOptions, 'task' | 'attachments'>,
): Promise<StartOptions['task']> {
  const attachments = await attachAll(link, given);
  if (attachments === undefined) return task;
  const whole = typeof task === 'string' ? { goal: task } : task;
  return { ...whole, attachments: [...(whole.attachments ?? []), ...attachments] };
}

/** USE_EXISTING gives whatever has the id: another tenant's, or a goal, is not for us, and not told of. */
async function checkTenant(link: Link, runId: string): Promise<void> {
  const { tenant, kind } = await executionOf(link, runId, 'brief');
  if (tenant === link.tenant && kind === undefined) return;
  throw new HoldfastError('RunExists', `The run id ${runId} is taken.`, {
    hint: 'Start with another run id, or without one.',
    details: { runId },
  });
}
