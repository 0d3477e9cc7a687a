/**
 * A goal with its cycles in this process: each is a machine of its own, and all share one clock, one store and one set of
 * workers, so that a worker that dies is dead for all. The shells are those of workflows/goal-run.ts and agent-run.ts.
 * Invariants:
 *  Y4 A cycle that has run is not started again: its id decides.
 *  Y5 A goal hears that a cycle has ended when its outcome is in the store.
 */
import type { DescribedRun } from '../../activities/describe-run.js';
import { advance, receive } from '../../core/goal/engine.js';
import { nextGoalSegment, openGoal, upgradeGoal } from '../../core/goal/open.js';
import type { RunEvent } from '../../core/state/event.js';
import type { GoalStart } from '../../core/state/goal/definition.js';
import type { Goal, GoalFinal } from '../../core/state/goal/goal.js';
import type { GoalOutsideInput } from '../../core/state/goal/input.js';
import type { Run } from '../../core/state/run.js';
import type { StartInput } from '../../core/state/task.js';
import {
  checkCycleStep,
  checkGoalEvent,
  checkGoalStep,
  startGoalChecking,
  type GoalChecking,
} from '../../pure/goal/invariants.js';
import type { VirtualClock } from './clock.js';
import {
  InProcess,
  playOut,
  worldOf,
  type Machine,
  type Watching,
  type World,
  type WorldOptions,
} from './machine.js';
import { RunFamily } from './family.js';
import { runMachine, type Message } from './simulation.js';
import type { SimulatedWorkers } from './worker.js';

/** Activations after which a goal that has not ended never will. */
const ACTIVATIONS_MAX = 200_000;

export interface GoalSimulationOptions extends WorldOptions, Watching<Goal> {
  readonly start: GoalStart;
  readonly goalId: string;
  readonly ofCycle?: Watching<Run> & {
    /** Called when a cycle starts, before it decides anything. */
    readonly onStart?: (runId: string, start: StartInput) => void;
    /** Called when a cycle is about to hear that it is open. */
    readonly onOpened?: (runId: string) => void;
  };
  /** Told every event of a run below a cycle when it happens. */
  readonly onAgentEvent?: (event: RunEvent) => void;
}

type Unstamped<T> = T extends unknown ? Omit<T, 'at'> : never;
/** What can come from outside; its time is when the goal hears of it. */
export type GoalInputMessage = Unstamped<GoalOutsideInput>;

export interface Cycle {
  readonly runId: string;
  readonly start: StartInput;
  run(): Run;
  readonly events: readonly RunEvent[];
  readonly violations: readonly string[];
  isOver(): boolean;
  send(message: Message): void;
}

export interface GoalSimulation {
  readonly clock: VirtualClock;
  readonly workers: SimulatedWorkers;
  /** The goal as it is now. */
  goal(): Goal;
  /** Everything that the goal emitted so far, by seq. */
  readonly events: readonly RunEvent[];
  /** Everything that goal and cycles emitted so far, in order. */
  readonly tree: readonly RunEvent[];
  /** By run id, in the order of their starts. */
  readonly cycles: ReadonlyMap<string, Cycle>;
  /** Invariants that did not hold, in words, of the goal and of its cycles. */
  violations(): readonly string[];
  /** What the invariants have followed so far. */
  checking(): GoalChecking;
  /** Delivers a message to the goal, which hears of it in its next activation. */
  send(message: GoalInputMessage): void;
  /** A cycle as it is now, or a run below one; undefined: no such run was started. */
  runOf(runId: string): Run | undefined;
  /** Delivers a message to a cycle or to a run below one; false: no such run is at work, and nothing took the message. */
  sendTo(runId: string, message: Message): boolean;
  /** The goal's segment is full: the next one begins at the next boundary. */
  continueAsNew(): void;
  /** Lets the goal go on to its end. Throws when it rests for ever, or a core throws. */
  finish(): Promise<Exclude<GoalFinal, { kind: 'continue_as_new' }>>;
}

/** Starts a goal: its first decision is made, nothing has happened yet. */
export function startGoalSimulation(options: GoalSimulationOptions): GoalSimulation {
  return new GoalInProcess(options);
}

class GoalInProcess implements GoalSimulation {
  readonly clock: VirtualClock;
  readonly workers: SimulatedWorkers;
  readonly tree: RunEvent[] = [];
  readonly cycles = new Map<string, CycleInProcess>();
  private readonly world: World;
  /** Sub-agents of its cycles. */
  private readonly agents: RunFamily;
  private readonly main: InProcess<Goal>;
  private state: GoalChecking = startGoalChecking();

  constructor(private readonly options: GoalSimulationOptions) {
    this.world = {
      ...worldOf(options),
      describe: (runId: string) => this.describe(runId),
      wake: (runId: string) => this.wake(runId),
    };
    this.agents = new RunFamily(this.world, runMachine, {
      onEvent: (event) => {
        this.tree.push(event);
        options.onAgentEvent?.(event);
      },
    });
    this.clock = this.world.clock;
    this.workers = this.world.workers;
    this.main = new InProcess(this.goalMachine(), this.world, {
      ...options,
      onEvent: (event, goal) => {
        this.tree.push(event);
        options.onEvent?.(event, goal);
      },
      children: {
        start: ({ child, input }) => this.startCycle(child, input),
        tell: ({ child, message }) =>
          this.cycles
            .get(child)
            ?.send({ type: message === 'cancel' ? 'cancel_requested' : 'interrupt' }),
      },
    }).begin();
  }

  get events(): readonly RunEvent[] {
    return this.main.events;
  }

  goal(): Goal {
    return this.main.carrier();
  }

  checking(): GoalChecking {
    return this.state;
  }

  violations(): readonly string[] {
    const ofCycles = [...this.cycles.values()].flatMap(({ runId, violations }) =>
      violations.map((violation) => `${runId}: ${violation}`),
    );
    return [...this.main.violations, ...ofCycles, ...this.agents.violations()];
  }

  send(message: GoalInputMessage): void {
    this.main.put(message);
  }

  runOf(runId: string): Run | undefined {
    return this.cycles.get(runId)?.run() ?? this.agents.members.get(runId)?.process.carrier();
  }

  sendTo(runId: string, message: Message): boolean {
    const cycle = this.cycles.get(runId)?.machine();
    const run = cycle ?? this.agents.members.get(runId)?.process;
    if (run === undefined || run.isOver()) return false;
    run.put(message);
    return true;
  }

  continueAsNew(): void {
    this.main.put({ type: 'segment_full' });
  }

  async finish(): Promise<Exclude<GoalFinal, { kind: 'continue_as_new' }>> {
    const cycles = this.cycles;
    const { main, agents } = this;
    function* members() {
      yield main;
      for (const cycle of cycles.values()) if (!cycle.isOver()) yield cycle.machine();
      yield* agents.open();
    }
    await playOut(this.world, main, members);
    return main.carrier().final as Exclude<GoalFinal, { kind: 'continue_as_new' }>;
  }

  private startCycle(runId: string, start: StartInput): boolean {
    if (this.cycles.has(runId)) return false;
    const { ofCycle } = this.options;
    ofCycle?.onStart?.(runId, start);
    const cycle = new CycleInProcess(runId, start, (machine) => {
      const watching: Watching<Run> = {
        ...ofCycle,
        onEvent: (event, run) => {
          this.tree.push(event);
          ofCycle?.onEvent?.(event, run);
        },
        onOutput: (kind) => {
          if (kind === 'open_run') ofCycle?.onOpened?.(runId);
          ofCycle?.onOutput?.(kind);
        },
        onStep: (run, effects) => {
          ofCycle?.onStep?.(run, effects);
          const over = run.final !== undefined && run.final.kind !== 'continue_as_new';
          if (over) this.main.put({ type: 'child_ended', child: runId });
        },
      };
      const cycleProcess: InProcess<Run> = new InProcess(this.cycleMachine(machine), this.world, {
        ...watching,
        children: this.agents.childrenOf(() => cycleProcess),
      });
      return cycleProcess;
    });
    this.cycles.set(runId, cycle);
    cycle.begin();
    return true;
  }

  private describe(runId: string): DescribedRun {
    const cycle = this.cycles.get(runId);
    if (cycle === undefined) return this.agents.describe(runId);
    return cycle.machine().describe(this.options.goalId);
  }

  private wake(runId: string): void {
    const cycle = this.cycles.get(runId);
    if (cycle === undefined) this.agents.wake(runId);
    else if (!cycle.isOver()) cycle.send({ type: 'mail' });
  }

  private goalMachine(): Machine<Goal> {
    const { start, goalId } = this.options;
    return {
      open: (at) => openGoal(start, { goalId, at }),
      receive,
      advance,
      nextSegment: (carried, segment) => nextGoalSegment(upgradeGoal(carried), segment),
      check: (before, step) => {
        const checked = checkGoalStep(this.state, before, step);
        this.state = checked.state;
        return checked.violations;
      },
      checkEvent: (event) => {
        const checked = checkGoalEvent(this.state, event);
        this.state = checked.state;
        return checked.violations;
      },
      activationsMax: ACTIVATIONS_MAX,
    };
  }

  /** As of any run, and what the goal's money says of each request. */
  private cycleMachine(machine: Machine<Run>): Machine<Run> {
    return {
      ...machine,
      check: (before, step) => [
        ...machine.check(before, step),
        ...checkCycleStep(this.goal(), step),
      ],
    };
  }
}

class CycleInProcess implements Cycle {
  private readonly process: InProcess<Run>;

  constructor(
    readonly runId: string,
    readonly start: StartInput,
    open: (machine: Machine<Run>) => InProcess<Run>,
  ) {
    this.process = open(runMachine(start, runId));
  }

  begin(): void {
    this.process.begin();
  }

  machine(): InProcess<Run> {
    return this.process;
  }

  get events(): readonly RunEvent[] {
    return this.process.events;
  }

  get violations(): readonly string[] {
    return this.process.violations;
  }

  run(): Run {
    return this.process.carrier();
  }

  isOver(): boolean {
    return this.process.isOver();
  }

  send(message: Message): void {
    this.process.put(message);
  }
}
