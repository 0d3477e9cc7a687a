/**
 * What an activity needs of Temporal, taken from its context before anything else: inside abort listeners
 * the context is gone.
 */
import { activityInfo, Context } from '@temporalio/activity';
import { cancelRun } from './cancel-run.js';
import { fetchHistory, type FetchedHistory } from './fetch-history.js';
import { wakeRun } from './wake-run.js';
import { describeRun, type DescribedRun } from './describe-run.js';
import { startBeating } from './heartbeats.js';
import { workOf, type Progress, type Work } from './progress.js';

export interface Scope {
  /** Temporal's own id of this execution, which names the writer of events. */
  readonly execution: string;
  /**
   * Names this effect's attempts in the store. A reset repeats effect ids under a new execution, and the
   * failures before it must not count after it.
   */
  readonly effectId: string;
  /** Which attempt this is, from 1: deliveries that were refused before they reached anything are none. */
  readonly attempt: number;
  /** What this delivery does, and what those before it did. */
  readonly work: Work;
  /** Tells the next delivery what this one has left; nothing is told after it. */
  leave(progress: Progress): void;
  /** A worker that says nothing for this long is taken for dead, ms. */
  readonly silenceMs: number;
  /** How long Temporal gives this delivery, ms; absent: nobody counts. */
  readonly limitMs?: number;
  /** Aborts on cancellation, worker shutdown and when Temporal has given this attempt up. */
  readonly signal: AbortSignal;
  /** True when the run wants this to end; false when only this worker has to. */
  stopRequested(): boolean;
  /** Of the run. */
  readonly namespace: string;
  /** What Temporal knows of another run; absent, or undefined: nobody can tell now. */
  describe?(workflowId: string): Promise<DescribedRun | undefined>;
  /** Tells another run that there is mail; a run that is gone hears nothing. Absent: nobody can tell it. */
  wake?(workflowId: string): Promise<void>;
  /** Asks another run to stop; a run that is gone hears nothing. Absent: nobody can ask it. */
  stop?(workflowId: string, reason: string): Promise<void>;
  /** The history of an earlier execution of a run. */
  fetchHistory(runId: string, execution: string): Promise<FetchedHistory>;
  /** Tells whoever operates the worker what there is to mend. */
  error(message: string, facts: { readonly [name: string]: string }): void;
  /** Tells them what may be of use; a worker shows it when it is asked to. */
  warn(message: string, facts: { readonly [name: string]: string }): void;
}

/** The name of an effect's attempts in the store. */
export function attemptsKey(effectId: string, execution: string): string {
  return `${effectId}@${execution}`;
}

/**
 * Runs `perform` in the current activity's scope, with heartbeats while it runs. `isSilent` keeps them
 * back: for whoever plays a worker that has died.
 */
export async function inScope<T>(
  perform: (scope: Scope) => Promise<T>,
  isSilent: () => boolean = () => false,
): Promise<T> {
  const context = Context.current();
  const info = activityInfo();
  const execution = info.workflowExecution?.runId ?? info.activityId;
  let last: Progress | undefined;
  const tell = (): void => {
    // Nobody hears of work within a task before it ends.
    if (!info.isLocal && !isSilent()) context.heartbeat(last ?? work.soFar());
  };
  const silenceMs = info.heartbeatTimeoutMs ?? info.startToCloseTimeoutMs;
  const work = workOf({
    details: info.heartbeatDetails,
    attempt: info.attempt,
    silenceMs,
    scheduledAt: info.scheduledTimestampMs,
    clock: Date.now,
    tell,
  });
  const scope: Scope = {
    execution,
    effectId: attemptsKey(info.activityId, execution),
    attempt: Math.max(1, info.attempt - work.earlier.refused),
    work,
    leave(progress) {
      last = progress;
      tell();
    },
    silenceMs,
    limitMs: info.startToCloseTimeoutMs,
    signal: context.cancellationSignal,
    stopRequested: () => context.cancellationDetails?.cancelRequested === true,
    namespace: info.namespace,
    describe: (workflowId) => describeRun(() => context.client, workflowId),
    wake: (workflowId) => wakeRun(() => context.client, workflowId),
    stop: (workflowId, reason) => cancelRun(() => context.client, workflowId, reason),
    // Absent in tests; a worker made from a NativeConnection has one.
    fetchHistory: (runId, earlier) => fetchHistory(context.client, runId, earlier),
    error: (message, facts) => context.log.error(message, { ...facts }),
    warn: (message, facts) => context.log.warn(message, { ...facts }),
  };
  const stopBeating = startBeating(tell, info.heartbeatTimeoutMs);
  try {
    return await perform(scope);
  } finally {
    stopBeating();
  }
}

/**
 * Reports the result of the current activity ahead of its own return, whose report is then the second. For
 * whoever plays a network that delivers twice.
 */
export async function completeAhead(output: unknown): Promise<void> {
  await Context.current().client.activity.complete(activityInfo().taskToken, output);
}

/** Stays in the current activity until it is cancelled or its worker shuts down, and then throws. */
export function untilStopped(): Promise<never> {
  return Context.current().cancelled;
}
