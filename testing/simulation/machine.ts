/**
 * Whatever decides by rules, in this process: facts are received, decisions made, effects played under a virtual clock,
 * as the shells of workflows/ do it on a server. A run is one machine; a goal with its cycles is several in one world.
 * Invariants:
 *  Y1 All facts of an activation are received before anything is decided (W2).
 *  Y2 Time stands still while anything can happen, and while something outside is waited for; then it moves to the next timer.
 *  Y3 The invariants of the core are checked after every step.
 *  Y8 What is decided beside a local activity is performed, and told, when its task has ended; a worker that dies before
 *     leaves nothing of it, and the next one decides on the same facts later.
 */
import type { DescribedRun } from '../../activities/describe-run.js';
import type { ActivityDeps } from '../../activities/index.js';
import type { Config } from '../../authoring/index.js';
import type { Connectors } from '../../connectors/index.js';
import type { Carrier } from '../../core/state/carrier.js';
import {
  ACTIVITIES,
  type ActivityEffect,
  type ActivityKind,
  type Effect,
  type OutputOf,
  type TellParent,
} from '../../core/state/effect.js';
import type { RunEvent } from '../../core/state/event.js';
import { failureOf, type Failure } from '../../core/state/failure.js';
import type { Step } from '../../core/state/run.js';
import { wholeOutput } from '../../core/step/brief-output.js';
import type { Provider } from '../../providers/provider.js';
import type { Store } from '../../store/store.js';
import { scheduleActivity, type Reported, type ScheduledActivity } from './activity.js';
import { virtualClock, type VirtualClock } from './clock.js';
import type { Seam } from './mortal.js';
import { simulatedWorkers, type SimulatedWorkers } from './worker.js';

/** Start of virtual time unless told otherwise: 2026-01-01, ms since epoch. */
export const SIMULATION_START = Date.UTC(2026, 0, 1);
const VIOLATIONS_MAX = 20;
/** After so long a server takes the worker of a task for dead, ms. */
const TASK_MS = 10_000;
/** Workers in a row that one task may take down: a server hands it to the next one without end. */
const TAKEN_DOWN_MAX = 20;

/** The state of a machine. */
export interface Durable extends Carrier {
  readonly runId: string;
  readonly final?: { readonly kind: string; readonly code?: string };
  readonly verdicts: readonly unknown[];
}

/** What decides: the functions of one core. */
export interface Machine<C extends Durable> {
  open(at: number): C;
  /** `input` is of a type that this machine knows. */
  receive(carrier: C, input: never): C;
  advance(carrier: C): Step<C>;
  /** `carried` has crossed as JSON. */
  nextSegment(carried: C, segment: { readonly at: number; readonly previousExecution: string }): C;
  /** Invariants that a step breaks, in words. */
  check(before: C, step: Step<C>): readonly string[];
  /** Those that an event breaks; each is given once, in order. */
  checkEvent(event: RunEvent): readonly string[];
  /** Activations after which one that has not ended never will. */
  readonly activationsMax: number;
}

/** What every machine of a simulation shares. */
export interface World {
  readonly clock: VirtualClock;
  readonly workers: SimulatedWorkers;
  /** What a server knows of a run. */
  readonly describe?: (runId: string) => DescribedRun;
  /** Tells a run that letters lie in the store for it; one that is gone hears nothing. */
  readonly wake?: (runId: string) => void;
  /** Ends when something has that takes real time, such as a request; virtual time stands still until then. */
  readonly outside?: () => Promise<unknown> | undefined;
  /** Ends the world. */
  readonly signal?: AbortSignal;
}

export interface WorldOptions {
  /** In memory; it may serve many runs, each with a run id and a task id of its own. */
  readonly store: Store;
  readonly config: Config;
  /** By `ModelRoute.provider`. */
  readonly providers: ReadonlyMap<string, Provider>;
  /** What reaches servers; default: nothing does. */
  readonly connectors?: Connectors;
  /** For models whose tokens are not those of their texts; default: reckoned by length. */
  readonly sizeAfterSummary?: ActivityDeps['sizeAfterSummary'];
  readonly clock?: VirtualClock;
  /** The rules that runs follow; default: the newest. */
  readonly rules?: number;
  /** Something that takes real time, as `World` has it; default: nothing does. */
  readonly outside?: () => Promise<unknown> | undefined;
  /** Ends the world: nothing happens in it any more, and who waits for its end is told the reason. */
  readonly signal?: AbortSignal;
  /** Does what takes real time within an activity; `outside` waits for it. */
  readonly inRealTime?: ActivityDeps['inRealTime'];
  /** Answers an effect in place of its activity; undefined: the activity does. */
  readonly instead?: (effect: ActivityEffect) => Promise<object> | undefined;
  /** Called at the places where an effect can be cut, in whatever runs there; it may kill the worker. */
  readonly seam?: Seam;
}

export function worldOf(options: WorldOptions): World {
  const { store, config, providers, connectors, rules, sizeAfterSummary } = options;
  const { outside, inRealTime, signal } = options;
  const clock = options.clock ?? virtualClock(SIMULATION_START);
  const deps = {
    store,
    config,
    providers,
    clock: clock.now,
    timers: clock,
    ...(connectors !== undefined && { connectors }),
    ...(rules !== undefined && { rules }),
    ...(sizeAfterSummary !== undefined && { sizeAfterSummary }),
    ...(inRealTime !== undefined && { inRealTime }),
  };
  const workers = simulatedWorkers({
    deps,
    clock,
    seam: options.seam ?? (() => undefined),
    ...(options.instead !== undefined && { instead: options.instead }),
  });
  return {
    clock,
    workers,
    ...(outside !== undefined && { outside }),
    ...(signal !== undefined && { signal }),
  };
}

/** What somebody may want to know of a machine. */
export interface Watching<C extends Durable> {
  /** Called with each event when it is emitted, and who emitted it, before anything of its step is performed. */
  readonly onEvent?: (event: RunEvent, carrier: C) => void;
  /** Called when an activity has ended well, before the machine hears of it. */
  readonly onOutput?: (kind: ActivityEffect['kind']) => void;
  /** Called after each decision, with what it started. */
  readonly onStep?: (carrier: C, effects: readonly Effect[]) => void;
}

/** Starts children and talks to them; a machine without it has none. */
export interface Children {
  /** False: it was there. */
  start(effect: Extract<Effect, { kind: 'start_child' }>): boolean;
  tell(effect: Extract<Effect, { kind: 'tell_child' }>): void;
  /** Absent: it has no parent among runs. */
  tellParent?(effect: TellParent): void;
}

export interface Member {
  /** It has heard of something, or its next segment can begin. */
  isDue(): boolean;
  activate(): void;
}

type Fact = (at: number) => object;

interface EffectEnd {
  readonly type: string;
  readonly id: string;
  readonly output?: unknown;
  readonly failure?: Failure;
}

export class InProcess<C extends Durable> implements Member {
  readonly events: RunEvent[] = [];
  readonly violations: string[] = [];
  private current: C;
  private inbox: Fact[] = [];
  private inFlight = new Map<string, ScheduledActivity>();
  /** Work within the task that decided: until it has ended nothing else is heard. */
  private local: { readonly id: string; ended?: Fact } | undefined;
  // Of the task that goes on (Y8): what it began with, what it decided, and how many workers died with it.
  private before: C;
  private facts: Fact[] = [];
  private held: (() => void)[] = [];
  private deaths = 0;
  private again = false;
  private activations = 0;

  constructor(
    private readonly machine: Machine<C>,
    private readonly world: World,
    private readonly around: Watching<C> & { readonly children?: Children } = {},
  ) {
    this.before = this.current = machine.open(world.clock.now());
  }

  begin(): this {
    this.decide();
    return this;
  }

  carrier(): C {
    return this.current;
  }

  /** Its time is when the machine hears of it. */
  put(input: object): void {
    this.inbox.push((at) => ({ ...input, at }));
  }

  isOver(): boolean {
    const { final } = this.current;
    return final !== undefined && final.kind !== 'continue_as_new';
  }

  /** As a server tells of it; `parent`: who started it. */
  describe(parent: string | undefined): DescribedRun {
    const { final } = this.current;
    const started = { parent: parent ?? null };
    if (!this.isOver()) return { state: 'running', ...started };
    const failure = final?.code;
    return { state: 'closed', ...started, ...(failure !== undefined && { failure }) };
  }

  isDue(): boolean {
    if (this.current.final !== undefined) return !this.isOver();
    if (this.local !== undefined) return this.local.ended !== undefined;
    return (this.again || this.inbox.length > 0) && this.world.workers.serving() !== undefined;
  }

  activate(): void {
    if (this.current.final !== undefined) return this.nextSegment();
    this.activations += 1;
    if (this.activations > this.machine.activationsMax) throw new Error('This run never ends.');
    if (this.local === undefined) {
      this.beginTask();
      this.receiveAll();
    } else this.receiveLocal(this.local);
    this.decide();
  }

  private beginTask(): void {
    this.before = this.current;
    this.facts = [];
    this.again = false;
  }

  /** Nothing is heard until a server gives the task to another worker. */
  private taskLost(): void {
    // The simulation then says what the run waits for.
    if (this.deaths === TAKEN_DOWN_MAX) return;
    this.deaths += 1;
    this.current = this.before;
    this.held = [];
    this.local = { id: '' };
    this.world.clock.after(TASK_MS, () => {
      this.local = undefined;
      this.again = true;
      this.inbox.unshift(...this.facts);
    });
  }

  restsForEver(): string {
    const waits = Object.keys(this.current.inflight).join(', ');
    return `Nothing can ever wake this run; it waits for ${waits === '' ? 'nothing' : waits}.`;
  }

  private receiveAll(): void {
    // An event that a fact makes may bring further facts, which belong to the same activation.
    for (let fact = this.inbox.shift(); fact !== undefined; fact = this.inbox.shift()) {
      this.facts.push(fact);
      this.current = this.machine.receive(this.current, fact(this.world.clock.now()) as never);
      this.tellEvents();
    }
  }

  /** What ends within a task is heard by itself. */
  private receiveLocal({ ended }: { readonly ended?: Fact }): void {
    this.local = undefined;
    if (ended === undefined) return;
    this.current = this.machine.receive(this.current, ended(this.world.clock.now()) as never);
  }

  private decide(): void {
    const before = this.current;
    const step = this.machine.advance(before);
    this.note(this.machine.check(before, step));
    this.current = step.run.verdicts.length === 0 ? step.run : { ...step.run, verdicts: [] };
    const after = this.current;
    const local = step.effects.find(isLocal);
    this.held.push(() => {
      this.tellEvents();
      for (const effect of step.effects) if (effect !== local) this.perform(effect);
      this.around.onStep?.(after, step.effects);
    });
    if (local !== undefined) return this.perform(local);
    this.deaths = 0;
    for (const happens of this.held.splice(0)) happens();
  }

  private tellEvents(): void {
    for (const event of this.current.outbox.events) {
      if (event.stamp.seq < this.events.length) {
        // Of a task that was lost: the same fact at a later time.
        this.events[event.stamp.seq] = event;
        continue;
      }
      this.note(this.machine.checkEvent(event));
      this.events.push(event);
      this.around.onEvent?.(event, this.current);
    }
  }

  private note(violations: readonly string[]): void {
    const room = VIOLATIONS_MAX - this.violations.length;
    if (violations.length > 0 && room > 0) this.violations.push(...violations.slice(0, room));
  }

  private perform(effect: Effect): void {
    switch (effect.kind) {
      case 'timer':
        return this.arm(effect);
      case 'cancel':
        return this.inFlight.get(effect.target)?.cancel();
      case 'status':
        return;
      case 'start_child':
        if (this.around.children === undefined) throw new Error('a run has no children');
        return this.put({
          type: 'child_started',
          id: effect.id,
          ...(!this.around.children.start(effect) && { existed: true }),
        });
      case 'tell_child':
        return this.around.children?.tell(effect);
      case 'tell_parent':
        return this.around.children?.tellParent?.(effect);
      default: {
        const { clock, workers, describe, wake } = this.world;
        const place = {
          clock,
          workers,
          execution: this.execution(),
          taskLost: () => this.taskLost(),
          ...(describe !== undefined && { describe }),
          ...(wake !== undefined && { wake }),
        };
        const activity = scheduleActivity(place, effect, (reported) =>
          this.ended(effect, reported),
        );
        this.inFlight.set(effect.id, activity);
        if (effect.local === true) this.local = { id: effect.id };
      }
    }
  }

  private arm({ id, at }: Pick<Extract<Effect, { kind: 'timer' }>, 'id' | 'at'>): void {
    const { clock } = this.world;
    const cancel = clock.after(Math.max(1, at - clock.now()), () => {
      this.inFlight.delete(id);
      this.put({ type: 'timer_fired', id });
    });
    this.inFlight.set(id, {
      cancel: () => {
        this.inFlight.delete(id);
        cancel();
      },
    });
  }

  private ended(effect: ActivityEffect, reported: Reported): void {
    const { id, kind, limits } = effect;
    const type = ACTIVITIES[kind].outcome;
    this.inFlight.delete(id);
    if (!reported.ok) {
      const failure = failureOf(reported.failure, limits);
      return this.hear({ type: 'effect_failed', id, failure });
    }
    this.around.onOutput?.(kind);
    // As a payload it would have become exactly this.
    const output = JSON.parse(JSON.stringify(reported.output)) as OutputOf<ActivityKind>;
    // Effects are handed over whole here; but who tries one within a task is told how brief its answer is to be.
    this.hear({ type, id, output: effect.local === true ? wholeOutput(kind, output) : output });
  }

  private hear(input: EffectEnd): void {
    if (this.local?.id === input.id) this.local.ended = (at) => ({ ...input, at });
    else this.put(input);
  }

  /** Which of its executions goes on now. */
  execution(): string {
    return `${this.current.runId}#${this.current.segment.number}`;
  }

  /** Continue-as-new: the state crosses as JSON, its timers are armed again. */
  private nextSegment(): void {
    this.receiveAll();
    const { final: _, ...carried } = JSON.parse(JSON.stringify(this.current)) as C;
    for (const waiting of this.inFlight.values()) waiting.cancel();
    const segment = { at: this.world.clock.now(), previousExecution: this.execution() };
    this.current = this.machine.nextSegment(carried as C, segment);
    this.beginTask();
    for (const [id, { kind, at }] of Object.entries(this.current.inflight)) {
      if (kind !== 'timer' || at === undefined) throw new Error(`${id} was left behind`);
      this.arm({ id, at });
    }
    this.decide();
  }
}

function isLocal(effect: Effect): boolean {
  return 'local' in effect && effect.local === true;
}

/** Lets everything in a world happen until `main` is over. Throws when it rests for ever, or a core throws. */
export async function playOut(
  world: World,
  main: Member & Pick<InProcess<Durable>, 'isOver' | 'restsForEver'>,
  members: () => Iterable<Member>,
): Promise<void> {
  while (!main.isOver()) {
    world.signal?.throwIfAborted();
    // Whatever can happen without time passing happens now: nothing here waits for real I/O but what is outside.
    await new Promise(setImmediate);
    const due = dueOf(members());
    // A wait that nobody awaits would fail unheard.
    const outside = due === undefined ? world.outside?.() : undefined;
    if (due !== undefined) due.activate();
    else if (outside !== undefined) await outside;
    else if (!world.clock.fireNext()) throw new Error(main.restsForEver());
  }
}

function dueOf(members: Iterable<Member>): Member | undefined {
  for (const member of members) if (member.isDue()) return member;
  return undefined;
}
