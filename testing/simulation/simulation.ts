/**
 * One run in this process, with its sub-agents: the real core and the real activities under a virtual clock, with everything
 * that Temporal does in between played by this folder. The loop is that of workflows/agent-run.ts.
 */
import { advance, receive } from '../../core/loop/engine.js';
import { nextSegment, open, upgradeRun } from '../../core/loop/open.js';
import type { RunEvent } from '../../core/state/event.js';
import type { OutsideInput } from '../../core/state/input.js';
import type { Final, Run } from '../../core/state/run.js';
import type { StartInput } from '../../core/state/task.js';
import { checkEvent, checkStep, startChecking } from '../../pure/invariants.js';
import type { VirtualClock } from './clock.js';
import { RunFamily, type FamilyMember, type FamilyWatching } from './family.js';
import { playOut, worldOf, type Machine, type World, type WorldOptions } from './machine.js';
import type { SimulatedWorkers } from './worker.js';

/** Activations after which a run that has not ended never will. */
const ACTIVATIONS_MAX = 20_000;

export interface SimulationOptions extends WorldOptions, FamilyWatching {
  readonly start: StartInput;
  readonly runId: string;
  /** A run that begins from this state, such as a fork, and not from its start. */
  readonly from?: Run;
}

type Unstamped<T> = T extends unknown ? Omit<T, 'at'> : never;
/** What can come from outside; its time is when the run hears of it. */
export type Message = Unstamped<OutsideInput>;

export interface Simulation {
  readonly clock: VirtualClock;
  readonly workers: SimulatedWorkers;
  /** The run as it is now. */
  run(): Run;
  /** Everything that the run emitted so far, by seq. */
  readonly events: readonly RunEvent[];
  /** The same with what its sub-agents emitted, in order. */
  readonly tree: readonly RunEvent[];
  /** The run and its sub-agents by run id, in the order of their starts. */
  readonly members: ReadonlyMap<string, FamilyMember>;
  /** Invariants that did not hold, in words. */
  readonly violations: readonly string[];
  /** Delivers a message; the run hears of it in its next activation. */
  send(message: Message, to?: string): void;
  /** The segment is full: the next one begins at the next boundary. */
  continueAsNew(): void;
  /** Resolves when nothing else can happen at this time. */
  quiet(): Promise<void>;
  /** Lets the run go on to its end, and whoever it hands its task to. Throws when it rests for ever, or its core throws. */
  finish(): Promise<Exclude<Final, { kind: 'continue_as_new' }>>;
}

/** Starts a run: its first decision is made, nothing has happened yet. */
export function startSimulation(options: SimulationOptions): Simulation {
  const { start, runId, from } = options;
  const tree: RunEvent[] = [];
  const world: World = {
    ...worldOf(options),
    describe: (id) => family.describe(id),
    wake: (id) => family.wake(id),
  };
  const { clock, workers } = world;
  const machineOf = (one: StartInput, id: string): Machine<Run> =>
    from !== undefined && id === runId
      ? { ...runMachine(one, id), open: () => from, checkEvent: () => [] }
      : runMachine(one, id);
  const family: RunFamily = new RunFamily(world, machineOf, {
    ...options,
    onEvent: (event, run) => {
      tree.push(event);
      options.onEvent?.(event, run);
    },
  });
  family.start(runId, start);
  const { process } = family.members.get(runId)!;
  return {
    clock,
    workers,
    run: () => process.carrier(),
    events: process.events,
    tree,
    members: family.members,
    get violations() {
      return family.violations();
    },
    send: (message, to = runId) => family.members.get(to)?.process.put(message),
    continueAsNew: () => process.put({ type: 'segment_full' }),
    quiet: () => new Promise((resolve) => clock.after(0, resolve)),
    async finish() {
      await playOut(world, process, () => family.open());
      // Runs that have its task from it go on when it has ended.
      for (const handed of family.handed()) await playOut(world, handed, () => family.open());
      return process.carrier().final as Exclude<Final, { kind: 'continue_as_new' }>;
    },
  };
}

export function runMachine(start: StartInput, runId: string): Machine<Run> {
  let checks = startChecking();
  return {
    open: (at) => open(start, { runId, at }),
    receive,
    advance,
    nextSegment: (carried, segment) => nextSegment(upgradeRun(carried), segment),
    check: checkStep,
    checkEvent(event) {
      const checked = checkEvent(checks, event);
      checks = checked.state;
      return checked.violations;
    },
    activationsMax: ACTIVATIONS_MAX,
  };
}
