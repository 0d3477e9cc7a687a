/**
 * One run in this process: the real core and the real activities under a virtual clock, with everything
 * that Temporal does in between played by this folder. The loop is that of workflows/agent-run.ts.
 * Invariants:
 *  Y1 All facts of an activation are received before anything is decided (W2).
 *  Y2 Time stands still while anything can happen, then it moves to the next timer.
 *  Y3 The invariants of the core are checked after every step.
 */
import type { ActivityDeps } from '../../activities/index.js';
import type { Config } from '../../authoring/index.js';
import { ACTIVITIES, type ActivityEffect, type Effect } from '../../core/state/effect.js';
import { advance, receive } from '../../core/loop/engine.js';
import type { RunEvent } from '../../core/state/event.js';
import { failureOf } from '../../core/state/failure.js';
import { type EffectInput, type Input, type OutsideInput } from '../../core/state/input.js';
import {
  checkEvent,
  checkStep,
  startChecking,
  type InvariantState,
} from '../../pure/invariants.js';
import { nextSegment, open, upgradeRun } from '../../core/loop/open.js';
import type { Final, Run } from '../../core/state/run.js';
import type { StartInput } from '../../core/state/task.js';
import type { Provider } from '../../providers/provider.js';
import type { Store } from '../../store/store.js';
import { scheduleActivity, type Reported, type ScheduledActivity } from './activity.js';
import { virtualClock, type VirtualClock } from './clock.js';
import type { Seam } from './mortal.js';
import { simulatedWorkers, type SimulatedWorkers } from './worker.js';

/** Start of virtual time unless told otherwise: 2026-01-01, ms since epoch. */
export const SIMULATION_START = Date.UTC(2026, 0, 1);
/** Activations after which a run that has not ended never will. */
const ACTIVATIONS_MAX = 20_000;
const VIOLATIONS_MAX = 20;

export interface SimulationOptions {
  /** In memory; it may serve many runs, each with a run id and a task id of its own. */
  readonly store: Store;
  readonly config: Config;
  /** By `ModelRoute.provider`. */
  readonly providers: ReadonlyMap<string, Provider>;
  /** For models whose tokens are not those of their texts; default: reckoned by length. */
  readonly sizeAfterSummary?: ActivityDeps['sizeAfterSummary'];
  readonly start: StartInput;
  readonly runId: string;
  readonly clock?: VirtualClock;
  /** Called at the places where an effect can be cut, in whatever runs there; it may kill the worker. */
  readonly seam?: Seam;
  /** Called with each event when it is emitted, before anything of its step is performed. */
  readonly onEvent?: (event: RunEvent) => void;
  /** Called when an activity has ended well, before the run hears of it. */
  readonly onOutput?: (kind: ActivityEffect['kind']) => void;
  /** Called after each decision, with what it started. */
  readonly onStep?: (run: Run, effects: readonly Effect[]) => void;
}

type Unstamped<T> = T extends unknown ? Omit<T, 'at'> : never;
/** What can come from outside; its time is when the run hears of it. */
export type Message = Unstamped<OutsideInput>;

export interface Simulation {
  readonly clock: VirtualClock;
  readonly workers: SimulatedWorkers;
  /** The run as it is now. */
  run(): Run;
  /** Everything emitted so far, by seq. */
  readonly events: readonly RunEvent[];
  /** Invariants that did not hold, in words. */
  readonly violations: readonly string[];
  /** Delivers a message; the run hears of it in its next activation. */
  send(message: Message): void;
  /** The segment is full: the next one begins at the next boundary. */
  continueAsNew(): void;
  /** Resolves when nothing else can happen at this time. */
  quiet(): Promise<void>;
  /** Lets the run go on to its end. Throws when it rests for ever, or its core throws. */
  finish(): Promise<Exclude<Final, { kind: 'continue_as_new' }>>;
}

/** Starts a run: its first decision is made, nothing has happened yet. */
export function startSimulation(options: SimulationOptions): Simulation {
  return new InProcess(options).begin();
}

type Fact = (at: number) => Input;

class InProcess implements Simulation {
  readonly clock: VirtualClock;
  readonly workers: SimulatedWorkers;
  readonly events: RunEvent[] = [];
  readonly violations: string[] = [];
  private current: Run;
  private inbox: Fact[] = [];
  private checks: InvariantState = startChecking();
  private inFlight = new Map<string, ScheduledActivity>();
  private activations = 0;

  constructor(private readonly options: SimulationOptions) {
    const { store, config, providers, runId, sizeAfterSummary } = options;
    this.clock = options.clock ?? virtualClock(SIMULATION_START);
    const { clock } = this;
    const deps = {
      store,
      config,
      providers,
      clock: clock.now,
      timers: clock,
      ...(sizeAfterSummary !== undefined && { sizeAfterSummary }),
    };
    this.workers = simulatedWorkers({ deps, clock, seam: options.seam ?? (() => undefined) });
    this.current = open(options.start, { runId, at: clock.now() });
  }

  begin(): this {
    this.decide();
    return this;
  }

  run(): Run {
    return this.current;
  }

  send(message: Message): void {
    this.inbox.push((at) => ({ ...message, at }) as Input);
  }

  continueAsNew(): void {
    this.inbox.push((at) => ({ type: 'segment_full', at }));
  }

  quiet(): Promise<void> {
    return new Promise((resolve) => this.clock.after(0, resolve));
  }

  async finish(): Promise<Exclude<Final, { kind: 'continue_as_new' }>> {
    for (;;) {
      const { final } = this.current;
      if (final !== undefined && final.kind !== 'continue_as_new') return final;
      // Whatever can happen without time passing happens now: nothing here waits for real I/O.
      await new Promise(setImmediate);
      if (final !== undefined) this.nextSegment();
      else if (this.canActivate()) this.activate();
      else if (!this.clock.fireNext()) throw new Error(this.restsForEver());
    }
  }

  private canActivate(): boolean {
    return this.inbox.length > 0 && this.workers.serving() !== undefined;
  }

  private restsForEver(): string {
    const waits = Object.keys(this.current.inflight).join(', ');
    return `Nothing can ever wake this run; it waits for ${waits === '' ? 'nothing' : waits}.`;
  }

  private activate(): void {
    this.activations += 1;
    if (this.activations > ACTIVATIONS_MAX) throw new Error('This run never ends.');
    this.receiveAll();
    this.decide();
  }

  private receiveAll(): void {
    // An event that a fact makes may bring further facts, which belong to the same activation.
    for (let fact = this.inbox.shift(); fact !== undefined; fact = this.inbox.shift()) {
      this.current = receive(this.current, fact(this.clock.now()));
      this.tellEvents();
    }
  }

  private decide(): void {
    const before = this.current;
    const step = advance(before);
    this.note(checkStep(before, step));
    this.current = step.run.verdicts.length === 0 ? step.run : { ...step.run, verdicts: [] };
    this.tellEvents();
    for (const effect of step.effects) this.perform(effect);
    this.options.onStep?.(this.current, step.effects);
  }

  private tellEvents(): void {
    for (const event of this.current.outbox.events) {
      if (event.stamp.seq < this.events.length) continue;
      const checked = checkEvent(this.checks, event);
      this.checks = checked.state;
      this.note(checked.violations);
      this.events.push(event);
      this.options.onEvent?.(event);
    }
  }

  private note(violations: readonly string[]): void {
    const room = VIOLATIONS_MAX - this.violations.length;
    if (violations.length > 0 && room > 0) this.violations.push(...violations.slice(0, room));
  }

  private perform(effect: Effect): void {
    switch (effect.kind) {
      case 'timer': {
        const ms = Math.max(1, effect.at - this.clock.now());
        const { id } = effect;
        const cancel = this.clock.after(ms, () => {
          this.inFlight.delete(id);
          this.inbox.push((at) => ({ type: 'timer_fired', id, at }));
        });
        this.inFlight.set(id, {
          cancel: () => {
            this.inFlight.delete(id);
            cancel();
          },
        });
        return;
      }
      case 'cancel':
        return this.inFlight.get(effect.target)?.cancel();
      case 'status':
        return;
      case 'start_child':
      case 'tell_child':
        throw new Error('a run has no children');
      default: {
        const place = { clock: this.clock, workers: this.workers, execution: this.execution() };
        const activity = scheduleActivity(place, effect, (reported) =>
          this.ended(effect, reported),
        );
        this.inFlight.set(effect.id, activity);
      }
    }
  }

  private ended({ id, kind, limits }: ActivityEffect, reported: Reported): void {
    const type = ACTIVITIES[kind].outcome;
    this.inFlight.delete(id);
    if (!reported.ok) {
      const failure = failureOf(reported.failure, limits);
      this.inbox.push((at) => ({ type: 'effect_failed', id, failure, at }));
      return;
    }
    this.options.onOutput?.(kind);
    // As a payload it would have become exactly this.
    const output: unknown = JSON.parse(JSON.stringify(reported.output));
    this.inbox.push((at) => ({ type, id, output, at }) as EffectInput);
  }

  private execution(): string {
    return `${this.current.runId}#${this.current.segment.number}`;
  }

  /** Continue-as-new: the run crosses as JSON, its timers are armed again. */
  private nextSegment(): void {
    this.receiveAll();
    const { final: _, ...carried } = JSON.parse(JSON.stringify(this.current)) as Run;
    for (const waiting of this.inFlight.values()) waiting.cancel();
    const segment = { at: this.clock.now(), previousExecution: this.execution() };
    this.current = nextSegment(upgradeRun(carried), segment);
    for (const [id, { kind, at }] of Object.entries(this.current.inflight)) {
      if (kind !== 'timer' || at === undefined) throw new Error(`${id} was left behind`);
      this.perform({ kind, id, at, summary: 'deadline' });
    }
    this.decide();
  }
}
