/**
 * Runs in this process with the sub-agents that they start, and the runs that they hand their task to: each is a machine of its own in one world.
 * Invariants:
 *  Y6 A sub-agent that has run is not started again: its id decides.
 *  Y7 A run hears that a sub-agent has ended when its outcome is in the store.
 */
import type { DescribedRun } from '../../activities/describe-run.js';
import type { TellChild, TellParent } from '../../core/state/effect.js';
import type { Run } from '../../core/state/run.js';
import type { StartInput } from '../../core/state/task.js';
import { InProcess, type Children, type Machine, type Watching, type World } from './machine.js';

export interface FamilyMember {
  readonly runId: string;
  readonly start: StartInput;
  readonly process: InProcess<Run>;
}

export interface FamilyWatching extends Watching<Run> {
  /** Called when a run starts, before it decides anything. */
  readonly onStart?: (runId: string, start: StartInput) => void;
  /** Called when a run is about to hear that it is open. */
  readonly onOpened?: (runId: string) => void;
  /** Called when a run has ended. */
  readonly onOver?: (runId: string) => void;
}

export class RunFamily {
  /** By run id, in the order of their starts. */
  readonly members = new Map<string, FamilyMember>();

  constructor(
    private readonly world: World,
    private readonly machineOf: (start: StartInput, runId: string) => Machine<Run>,
    private readonly watching: FamilyWatching,
  ) {}

  /** Starts a run; one that is there already is none the worse, and false is said. */
  start(runId: string, start: StartInput, parent?: InProcess<Run>): boolean {
    if (this.members.has(runId)) return false;
    this.watching.onStart?.(runId, start);
    const startedBy = parent?.execution();
    const process: InProcess<Run> = new InProcess(this.machineOf(start, runId), this.world, {
      ...this.watching,
      onOutput: (kind) => {
        if (kind === 'open_run') this.watching.onOpened?.(runId);
        this.watching.onOutput?.(kind);
      },
      onStep: (run, effects) => {
        this.watching.onStep?.(run, effects);
        if (run.final === undefined || run.final.kind === 'continue_as_new') return;
        const hears = start.parent?.kind !== 'handoff';
        if (parent !== undefined && hears) tellEnd(parent, run, { startedBy });
        this.watching.onOver?.(runId);
      },
      children: {
        ...this.childrenOf(() => process),
        tellParent: (effect) => askParent(effect, { parent, process }),
      },
    });
    this.members.set(runId, { runId, start, process });
    process.begin();
    return true;
  }

  /** As a server does. */
  describe(runId: string): DescribedRun {
    const member = this.members.get(runId);
    return member?.process.describe(member.start.parent?.id) ?? { state: 'not_found' };
  }

  /** Tells a run that letters lie in the store for it. */
  wake(runId: string): void {
    const process = this.members.get(runId)?.process;
    if (process?.isOver() === false) process.put({ type: 'mail' });
  }

  /** Those that have the task of a run that has ended; they may start others while they are gone through. */
  *handed(): Iterable<InProcess<Run>> {
    for (const { start, process } of this.members.values())
      if (start.parent?.kind === 'handoff') yield process;
  }

  /** Those that go on. */
  *open(): Iterable<InProcess<Run>> {
    for (const { process } of this.members.values()) if (!process.isOver()) yield process;
  }

  violations(): readonly string[] {
    return [...this.members.values()].flatMap(({ runId, start, process }) =>
      start.parent === undefined
        ? process.violations
        : process.violations.map((violation) => `${runId}: ${violation}`),
    );
  }

  private tell(effect: TellChild, parent: InProcess<Run>): void {
    const { child, message } = effect;
    const process = this.members.get(child)?.process;
    if (process?.isOver() !== false) {
      if (message === 'report') parent.put({ type: 'child_ended', child });
      return;
    }
    process.put(toldBy(effect));
  }

  /** The sub-agents of a run, which may be of another family. */
  childrenOf(parent: () => InProcess<Run>): Children {
    return {
      start: ({ child, input }) => this.start(child, input, parent()),
      tell: (effect) => this.tell(effect, parent()),
    };
  }
}

interface Starter {
  /** Execution of the parent that started it. */
  readonly startedBy: string | undefined;
}

/** As on a server: the execution that started it hears what it returned, any other one its own word. */
function tellEnd(parent: InProcess<Run>, run: Run, { startedBy }: Starter): void {
  const { runId: child, start, tellsEnd, final } = run;
  const hears = start.parent?.hears === true;
  if (hears && parent.execution() === startedBy) {
    const result = final?.kind === 'result' && !isCancelled(run) ? final.result : undefined;
    parent.put({ type: 'child_done', child, ...(result && { result: asPayload(result) }) });
  }
  if (!hears || tellsEnd) parent.put({ type: 'child_ended', child });
}

interface Asking {
  readonly parent: InProcess<Run> | undefined;
  readonly process: InProcess<Run>;
}

/** A parent that is gone gives nothing. */
function askParent({ child, n, amount }: TellParent, { parent, process }: Asking): void {
  if (parent?.isOver() === false) parent.put({ type: 'money_wanted', child, n, amount });
  else process.put({ type: 'money_answered', child, n, amount: 0 });
}

function isCancelled({ final, frozen }: Run): boolean {
  return (
    final?.kind === 'result' && final.cancelled && frozen?.settings.propagateCancellation === true
  );
}

function asPayload(value: object): unknown {
  return JSON.parse(JSON.stringify(value));
}

function toldBy(effect: TellChild): object {
  switch (effect.message) {
    case 'report':
      return { type: 'tell_end' };
    case 'cancel':
      return { type: 'cancel_requested' };
    case 'interrupt':
      return { type: 'interrupt' };
    case 'money': {
      const { child, n, amount } = effect;
      return { type: 'money_answered', child, n, amount };
    }
    case 'modes':
      return { type: 'modes_above', modes: effect.modes };
    case 'say':
      return { type: 'user_message', text: effect.text, id: effect.id };
  }
}
