/**
 * The worker of a simulation: one at a time serves, and it can die, drain and come back.
 * Invariants: what is waiting is taken in order as soon as a worker serves; a worker that drains takes
 * nothing new and is gone when its last attempt has ended.
 */
import { performActivity, type ActivityDeps, type Scope } from '../../activities/index.js';
import type { ActivityEffect } from '../../core/state/effect.js';
import type { VirtualClock } from './clock.js';
import { mortal, newLife, type Life, type Seam } from './mortal.js';

/** As long as the real worker gives its activities, in ms. */
const SHUTDOWN_GRACE_MS = 20_000;
const SHUTDOWN_FORCE_MS = 60_000;

/** An attempt as its worker knows it. */
export interface Running {
  /** The worker is shutting down: end soon. */
  stop(): void;
  /** The worker is gone, and says nothing any more. */
  lost(): void;
}

export interface SimulatedWorkers {
  /** The worker that takes new work; undefined while there is none. */
  serving(): SimulatedWorker | undefined;
  /** Calls back once, when a worker serves again. */
  whenServing(then: () => void): void;
  /**
   * The worker is gone from one moment to the next, and another one serves after `downMs`, at once by default.
   * `partition`: it only lost its connection, so its code runs on and meets the fences of the store.
   */
  kill(how?: 'crash' | 'partition', downMs?: number): void;
  /** The worker drains; after `downMs` more another one serves. */
  restart(downMs?: number): void;
  /** The worker drains; from then on workers of another release serve, with what `release` makes of what was. */
  deploy(release: (deps: ActivityDeps) => ActivityDeps): void;
}

export interface SimulatedWorker {
  perform(effect: ActivityEffect, scope: Scope): Promise<unknown>;
  readonly running: Set<Running>;
  /** A worker that drains is still alive. */
  readonly life: Life;
  /** Tells the worker that an attempt has ended. */
  ended(attempt: Running): void;
}

interface Incarnation extends SimulatedWorker {
  onIdle?: () => void;
}

export interface WorkerOptions {
  readonly deps: ActivityDeps;
  readonly clock: VirtualClock;
  readonly seam: Seam;
  /** Answers an effect in place of its activity; undefined: the activity does. */
  readonly instead?: (effect: ActivityEffect) => Promise<object> | undefined;
}

type Incarnating = Pick<WorkerOptions, 'deps' | 'seam'> & {
  readonly instead: WorkerOptions['instead'] | undefined;
};

export function simulatedWorkers({
  deps: first,
  clock,
  seam,
  instead,
}: WorkerOptions): SimulatedWorkers {
  let deps = first;
  let current: Incarnation | undefined = incarnation({ deps, seam, instead });
  let waiting: (() => void)[] = [];

  function serve(): void {
    current = incarnation({ deps, seam, instead });
    const ready = waiting;
    waiting = [];
    for (const then of ready) then();
  }

  function abandon(worker: Incarnation): void {
    for (const attempt of worker.running) attempt.lost();
    worker.running.clear();
  }

  const workers: SimulatedWorkers = {
    serving: () => current,
    whenServing(then) {
      if (current === undefined) waiting.push(then);
      else then();
    },
    kill(how = 'crash', downMs = 0) {
      const worker = current;
      if (worker === undefined) return;
      current = undefined;
      if (how === 'crash') worker.life.end();
      abandon(worker);
      if (downMs === 0) serve();
      else clock.after(downMs, serve);
    },
    restart(downMs = 0) {
      const worker = current;
      if (worker === undefined) return;
      current = undefined;
      const end = (): void => {
        for (const cancel of limits) cancel();
        delete worker.onIdle;
        worker.life.end();
        abandon(worker);
        if (downMs === 0) serve();
        else clock.after(downMs, serve);
      };
      const limits = [
        clock.after(SHUTDOWN_GRACE_MS, () => worker.running.forEach((attempt) => attempt.stop())),
        clock.after(SHUTDOWN_GRACE_MS + SHUTDOWN_FORCE_MS, end),
      ];
      if (worker.running.size === 0) end();
      else worker.onIdle = end;
    },
    deploy(release) {
      deps = release(deps);
      workers.restart();
    },
  };
  return workers;
}

function incarnation({ deps, seam, instead }: Incarnating): Incarnation {
  const life = newLife();
  const own = mortal(deps, life, seam);
  const worker: Incarnation = {
    life,
    running: new Set(),
    perform: (effect, scope) => instead?.(effect) ?? performActivity(own, scope, effect),
    ended(attempt) {
      worker.running.delete(attempt);
      if (worker.running.size === 0) worker.onIdle?.();
    },
  };
  return worker;
}
