/**
 * One scheduled activity, as Temporal treats it: attempts, retries, timeouts, cancellation.
 * Invariants: it is reported exactly once; of an attempt that was given up nothing is ever heard; a
 * cancelled activity is waited for while it runs and is over at once while it does not.
 */
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import type { DescribedRun } from '../../activities/describe-run.js';
import { attemptsKey, workOf, type Progress, type Scope } from '../../activities/index.js';
import { RETRY_BACKOFF, type ActivityEffect } from '../../core/state/effect.js';
import type { RawFailure } from '../../core/state/failure.js';
import type { VirtualClock } from './clock.js';
import type { Running, SimulatedWorker, SimulatedWorkers } from './worker.js';

export type Reported =
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly failure: RawFailure };

export interface ScheduledActivity {
  cancel(): void;
}

export interface ActivityPlace {
  readonly clock: VirtualClock;
  readonly workers: SimulatedWorkers;
  /** Stands for Temporal's run id. */
  readonly execution: string;
  /** What a server knows of a run. */
  readonly describe?: (runId: string) => DescribedRun;
  /** Tells a run that letters lie in the store for it. */
  readonly wake?: (runId: string) => void;
  /** The worker that decides died with a local activity: nothing of its task has happened. */
  readonly taskLost: () => void;
}

type TimeoutKind = 'StartToClose' | 'ScheduleToClose' | 'Heartbeat';

const TIMEOUT_TYPES: { readonly [kind in TimeoutKind]: string } = {
  StartToClose: 'START_TO_CLOSE',
  ScheduleToClose: 'SCHEDULE_TO_CLOSE',
  Heartbeat: 'HEARTBEAT',
};

export function scheduleActivity(
  place: ActivityPlace,
  effect: ActivityEffect,
  report: (reported: Reported) => void,
): ScheduledActivity {
  return new Activity(place, effect, report).begin();
}

/** The attempt that counts now. */
interface Attempt extends Running {
  readonly worker: SimulatedWorker;
  readonly controller: AbortController;
  /** No more is heard of it. */
  over: boolean;
  alive: boolean;
  /** The last heartbeat that its worker sends. */
  beat: () => void;
}

class Activity implements ScheduledActivity {
  private attempt: Attempt | undefined;
  private attempts = 0;
  /** What the newest heartbeat carried. */
  private heartbeat: Progress | undefined;
  private cancelRequested = false;
  private done = false;
  private timers: (() => void)[] = [];
  private readonly deadline: number | undefined;
  private readonly scheduledAt: number;
  private cancelDeadline: (() => void) | undefined;

  constructor(
    private readonly place: ActivityPlace,
    private readonly effect: ActivityEffect,
    private readonly report: (reported: Reported) => void,
  ) {
    const { totalMs } = effect.limits;
    this.scheduledAt = place.clock.now();
    this.deadline = totalMs === undefined ? undefined : this.scheduledAt + totalMs;
  }

  begin(): this {
    const { clock } = this.place;
    if (this.deadline !== undefined) {
      this.cancelDeadline = clock.after(this.deadline - clock.now(), () =>
        this.timeOut('ScheduleToClose'),
      );
    }
    this.deliver();
    return this;
  }

  cancel(): void {
    this.cancelRequested = true;
    if (this.attempt === undefined) this.end(cancelled());
    // A worker that is gone hears of nothing; its heartbeats will be missed.
    else if (this.attempt.alive) this.attempt.controller.abort();
  }

  /** As soon as a worker is there. */
  private deliver(): void {
    this.place.workers.whenServing(() => {
      if (!this.done) this.start(this.place.workers.serving()!);
    });
  }

  private start(worker: SimulatedWorker): void {
    const { limits } = this.effect;
    this.attempts += 1;
    const controller = new AbortController();
    const attempt: Attempt = {
      worker,
      controller,
      over: false,
      alive: true,
      beat: () => undefined,
      stop: () => controller.abort(),
      lost: () => this.lost(attempt),
    };
    this.attempt = attempt;
    worker.running.add(attempt);
    const { clock } = this.place;
    this.timers.push(clock.after(limits.attemptMs, () => this.timeOut('StartToClose')));
    // The next microtask: a worker is never called inside the decision that scheduled its work.
    void Promise.resolve()
      .then(() => worker.perform(this.effect, this.scopeOf(attempt)))
      .then(
        (output) => this.ended(attempt, () => this.end({ ok: true, output })),
        (error: unknown) => this.ended(attempt, () => this.failed(error)),
      );
  }

  private scopeOf(attempt: Attempt): Scope {
    const { execution, clock, describe, wake } = this.place;
    const { controller } = attempt;
    const { heartbeatMs, attemptMs } = this.effect.limits;
    const silenceMs = heartbeatMs ?? attemptMs;
    const beat = (progress: Progress): void => {
      if (attempt.alive && !attempt.over) this.heartbeat = progress;
    };
    const work = workOf({
      details: this.heartbeat,
      attempt: this.attempts,
      silenceMs,
      scheduledAt: this.scheduledAt,
      clock: clock.now,
      tell: () => beat(work.soFar()),
    });
    attempt.beat = () => beat(work.soFar());
    return {
      execution,
      effectId: attemptsKey(this.effect.id, execution),
      attempt: Math.max(1, this.attempts - work.earlier.refused),
      work,
      leave: beat,
      silenceMs,
      signal: controller.signal,
      stopRequested: () => this.cancelRequested,
      ...(describe !== undefined && {
        describe: (runId: string) => Promise.resolve(describe(runId)),
      }),
      ...(wake !== undefined && { wake: (runId: string) => Promise.resolve(wake(runId)) }),
      fetchHistory: () => Promise.reject(new Error('a simulation has no history')),
      namespace: 'simulation',
      error: () => undefined,
      warn: () => undefined,
    };
  }

  /** What an attempt says counts only while nobody has given it up. */
  private ended(attempt: Attempt, then: () => void): void {
    attempt.worker.ended(attempt);
    if (attempt.over || this.done) return;
    this.giveUp();
    then();
  }

  private lost(attempt: Attempt): void {
    if (attempt.over || this.done) return;
    // Heartbeats are frequent: the last one is as good as new.
    attempt.beat();
    attempt.alive = false;
    if (this.effect.local === true) return this.dieWithTask();
    const { heartbeatMs } = this.effect.limits;
    if (heartbeatMs === undefined) return;
    this.timers.push(this.place.clock.after(heartbeatMs, () => this.timeOut('Heartbeat')));
  }

  private dieWithTask(): void {
    this.done = true;
    this.cancelDeadline?.();
    this.giveUp();
    this.place.taskLost();
  }

  private giveUp(): void {
    if (this.attempt !== undefined) this.attempt.over = true;
    this.attempt = undefined;
    for (const cancel of this.timers) cancel();
    this.timers = [];
  }

  private timeOut(kind: TimeoutKind): void {
    if (this.done) return;
    const given = this.attempt;
    given?.beat();
    this.giveUp();
    const timeoutType = TIMEOUT_TYPES[kind];
    const message = `ran out of time: ${timeoutType}`;
    const failure: RawFailure = { message, timedOut: true, timeoutType, progress: this.heartbeat };
    const isLast = kind === 'ScheduleToClose' || this.effect.limits.once;
    if (isLast) this.end({ ok: false, failure });
    else this.retry(failure, undefined);
    // Its worker learns that nobody waits for it any more; that is no stop by the run.
    if (given?.alive) given.controller.abort();
  }

  private failed(error: unknown): void {
    if (error instanceof CancelledFailure) return this.end(cancelled(error.message));
    // Activities throw nothing else; whatever else is thrown is retried, as Temporal would.
    if (!(error instanceof ApplicationFailure))
      return this.retry({ message: String(error) }, undefined);
    const failure: RawFailure = {
      type: error.type ?? null,
      message: error.message,
      details: error.details?.[0],
    };
    if (error.nonRetryable) return this.end({ ok: false, failure });
    this.retry(failure, error.nextRetryDelay as number | undefined);
  }

  private retry(failure: RawFailure, afterMs: number | undefined): void {
    const { maximumAttempts } = this.effect.limits;
    const spent = maximumAttempts > 0 && this.attempts >= maximumAttempts;
    if (spent || this.cancelRequested) return this.end({ ok: false, failure });
    const { initialMs, coefficient, maximumMs } = RETRY_BACKOFF;
    const backoff = Math.min(initialMs * coefficient ** (this.attempts - 1), maximumMs);
    const delay = afterMs ?? backoff;
    const { clock } = this.place;
    if (this.deadline !== undefined && clock.now() + delay > this.deadline) {
      return this.end({ ok: false, failure: { ...failure, timedOut: true } });
    }
    this.timers.push(clock.after(delay, () => this.deliver()));
  }

  private end(reported: Reported): void {
    if (this.done) return;
    this.done = true;
    this.cancelDeadline?.();
    this.giveUp();
    this.report(reported);
  }
}

function cancelled(message = 'the activity was cancelled'): Reported {
  return { ok: false, failure: { message, cancelled: true } };
}
