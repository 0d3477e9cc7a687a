/**
 * What the runs of a recorded tree gave to others and asked of people, heard while the record is played as it was; and which of
 * them each run of another play stands for: the one that had its task from the same call of the run that stands above it.
 * Invariants: tasks are told apart by their digests; a recorded run stands for one run at most, and in no order but that of
 * equal tasks.
 */
import type { RunEvent } from '../../core/state/event.js';
import type { Call } from '../../core/state/call.js';
import type { Run } from '../../core/state/run.js';

export type Question = Extract<RunEvent, { readonly type: 'approval_requested' | 'input_request' }>;

/** A call that gives a task to another run, or hands over. */
interface Given {
  /** Run id of the run that had it; absent: none was started. */
  child?: string;
}

export class RecordedTree {
  /** Of all runs, in order. */
  readonly questions: Question[] = [];
  /** Ids of questions whose time was up. */
  readonly expired = new Set<string>();
  private readonly given = new Map<string, Given[]>();
  private readonly newest = new Map<string, Given>();

  hear(event: RunEvent, run: Run): void {
    switch (event.type) {
      case 'model_response':
        for (const call of tasksIn(run)) this.give(run.runId, call);
        return;
      case 'approval_requested':
      case 'input_request':
        this.questions.push(event);
        return;
      case 'approval_resolved':
      case 'input_provided':
        if (event.outcome === 'expired') this.expired.add(event.askId);
        return;
      default: {
        const { call, child } = startIn(event) ?? {};
        const given = call === undefined ? undefined : this.newest.get(call);
        if (given !== undefined && child !== undefined) given.child = child;
      }
    }
  }

  /** Of a run of the record, by the digests of its calls. */
  tasksOf(runId: string, digest: string): readonly Given[] {
    return this.given.get(keyOf(runId, digest)) ?? [];
  }

  private give(runId: string, { id, digest }: Pick<Call, 'id' | 'digest'>): void {
    const key = keyOf(runId, digest);
    const given: Given = {};
    this.given.set(key, [...(this.given.get(key) ?? []), given]);
    this.newest.set(keyOf(runId, id), given);
  }
}

/** The runs of another play of a recorded tree. */
export class TreeInPlay {
  /** By run id, the recorded run. */
  private readonly standing: Map<string, string>;
  private readonly taken = new Map<string, number>();
  private readonly newest = new Map<string, Given>();

  constructor(
    private readonly recorded: RecordedTree,
    readonly root: string,
  ) {
    this.standing = new Map([[root, root]]);
  }

  /** Run id in the record; undefined: nobody has recorded such a run. */
  recordedRun(runId: string): string | undefined {
    return this.standing.get(runId);
  }

  /** Calls of the newest reply of a run that give tasks which the record does not have, or not so often. */
  newTasks(run: Run): readonly Call[] {
    return tasksIn(run).filter((call) => {
      const given = this.take(run.runId, call.digest);
      if (given !== undefined) this.newest.set(keyOf(run.runId, call.id), given);
      return given === undefined && isAllowed(call);
    });
  }

  /** Run id of the run that is started, where the recorded call started none. */
  strangerIn(event: RunEvent): string | undefined {
    const { call, child } = startIn(event) ?? {};
    if (call === undefined || child === undefined) return undefined;
    const recorded = this.newest.get(call)?.child;
    if (recorded === undefined) return child;
    this.standing.set(child, recorded);
    return undefined;
  }

  private take(runId: string, digest: string): Given | undefined {
    const recorded = this.recordedRun(runId);
    if (recorded === undefined) return undefined;
    const key = keyOf(recorded, digest);
    const count = this.taken.get(key) ?? 0;
    const given = this.recorded.tasksOf(recorded, digest)[count];
    if (given !== undefined) this.taken.set(key, count + 1);
    return given;
  }
}

/** Arguments that break the schema give nothing to anybody. */
function isAllowed(call: Call): boolean {
  return call.stage !== 'proposed' || call.check.ok;
}

function tasksIn({ turn, frozen }: Run): readonly Call[] {
  const starters = (frozen?.tools ?? []).filter(
    ({ kind }) => kind === 'subagent' || kind === 'handoff',
  );
  const names = new Set(starters.map(({ name }) => name));
  return (turn?.calls ?? []).filter(({ tool }) => names.has(tool));
}

function startIn(event: RunEvent): { readonly call: string; readonly child: string } | undefined {
  const { runId } = event.stamp;
  switch (event.type) {
    case 'tool_started': {
      const { callId, child } = event;
      return child === undefined ? undefined : { call: keyOf(runId, callId), child };
    }
    case 'handoff': {
      const { started } = event;
      return started && { call: keyOf(runId, started.callId), child: started.runId };
    }
    default:
      return undefined;
  }
}

function keyOf(runId: string, what: string): string {
  return `${runId} ${what}`;
}
