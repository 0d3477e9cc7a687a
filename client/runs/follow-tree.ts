/**
 * Moments of a run and of the sub-agents below it, as one sequence.
 * Invariants: moments of each run come in its own order; those of a sub-agent come between the start and the end of the call
 * that it works on; of what is known of several runs at once, the oldest comes first. A sub-agent of which nothing can be read
 * holds nothing up once its call has ended.
 */
import type { RunEvent } from '../../core/state/event.js';
import type { RunMoment } from './follow-run.js';
import { firstOf } from '../first-of.js';
import { Branch, type TreeOptions, type TreeRun, type Worker } from './tree-branch.js';

export type TreeMoment = { readonly of: TreeRun } & (
  | RunMoment
  /** The call of this sub-agent has ended, and nothing of the run is stored. */
  | { readonly kind: 'absent' }
  /** This run, the one that is followed, has more sub-agents than are read; said once. */
  | { readonly kind: 'left_out' }
);

/** No tree is deeper: 5 generations at most are declared. */
const DEPTH_MAX = 8;

export async function* followTree(
  runId: string,
  options: TreeOptions,
): AsyncGenerator<TreeMoment, void, undefined> {
  const tree = new Tree({ runId, depth: 0 }, options);
  try {
    for (;;) {
      const moment = await tree.next();
      if (moment === undefined) return;
      yield moment;
    }
  } finally {
    await tree.close();
  }
}

class Tree {
  private readonly branches = new Set<Branch>();
  private opened = 0;
  private leftOut: 'none' | 'due' | 'said' = 'none';

  constructor(
    private readonly root: TreeRun,
    private readonly options: TreeOptions,
  ) {
    this.open(root);
  }

  open(of: TreeRun): Branch {
    const branch = new Branch(of, this.options);
    this.branches.add(branch);
    return branch;
  }

  /** Undefined: nothing will come any more. */
  async next(): Promise<TreeMoment | undefined> {
    if (this.leftOut === 'due') {
      this.leftOut = 'said';
      return { kind: 'left_out', of: this.root };
    }
    for (;;) {
      for (const branch of this.branches) if (branch.isDrained()) this.branches.delete(branch);
      const open = [...this.branches];
      const late = open.filter((branch) => branch.isLate());
      if (late.length > 0) {
        await firstOf(late.map((branch) => branch.arrival()));
        continue;
      }
      for (const branch of open) if (branch.isOver()) branch.endBelow();
      const [first] = open
        .filter((branch) => branch.head !== undefined && !this.isHeld(branch, branch.head))
        .toSorted((a, b) => a.headAt() - b.headAt());
      if (first !== undefined) return this.take(first);
      // Who holds others up is read to its end.
      if ([...this.branches].some((branch) => branch.isLate())) continue;
      const coming = open.filter((branch) => branch.head === undefined && !branch.isOver());
      if (coming.length === 0) return undefined;
      await firstOf(coming.map((branch) => branch.arrival()));
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.branches].map((branch) => branch.close()));
  }

  /** An end is told when everything of the sub-agents that it ends is. */
  private isHeld(branch: Branch, head: RunMoment): boolean {
    if (head.kind === 'chunk' || head.event.stamp.seq <= branch.seen) return false;
    const { event } = head;
    if (event.type === 'tool_finished' && event.child !== undefined) {
      this.begin(branch, event.child, event);
      const working = [...branch.below.values()].filter(({ callId }) => callId === event.callId);
      return stillOpen(working);
    }
    return event.type === 'run_result' && stillOpen([...branch.below.values()]);
  }

  private take(branch: Branch): TreeMoment {
    const absent = absentBefore(branch);
    if (absent !== undefined) return { kind: 'absent', of: absent };
    const moment = branch.take();
    if (moment.kind === 'chunk') return { ...moment, of: branch.of };
    const { event } = moment;
    const { seq } = event.stamp;
    if (seq <= branch.lastSeq) {
      branch.seen = Math.min(branch.seen, seq - 1);
      this.forget(branch, seq);
    }
    branch.lastSeq = seq;
    this.note(branch, event);
    return { ...moment, of: branch.of };
  }

  private note(branch: Branch, event: RunEvent): void {
    const { below, seen, of } = branch;
    if (event.type === 'tool_started' && event.child !== undefined) {
      const { callId, child, stamp } = event;
      if (!below.has(child)) below.set(child, { callId, since: stamp.seq, isOver: false });
    }
    if (event.type === 'tool_finished') {
      for (const worker of below.values()) if (worker.callId === event.callId) worker.isOver = true;
    }
    if (event.stamp.seq < seen || of.depth >= DEPTH_MAX) return;
    for (const [child, { callId, isOver, run }] of below) {
      if (!isOver && run === undefined) this.begin(branch, child, { ...event, callId });
    }
  }

  private begin(
    branch: Branch,
    runId: string,
    { callId, stamp }: { readonly callId: string; readonly stamp: { readonly seq: number } },
  ): void {
    const { below, of } = branch;
    const worker = below.get(runId) ?? { callId, since: stamp.seq, isOver: false };
    below.set(runId, worker);
    if (worker.isOver || worker.run !== undefined || of.depth >= DEPTH_MAX) return;
    if (this.opened >= (this.options.childrenMax ?? Number.POSITIVE_INFINITY)) {
      worker.isOver = true;
      if (this.leftOut === 'none') this.leftOut = 'due';
      return;
    }
    this.opened += 1;
    worker.run = this.open({ runId, above: of.runId, callId, depth: of.depth + 1 });
  }

  /** After a reset of a run: what it had begun from there on, it begins anew. */
  private forget(branch: Branch, seq: number): void {
    for (const [child, { since, run }] of branch.below) {
      if (since < seq) continue;
      branch.below.delete(child);
      if (run === undefined) continue;
      this.forget(run, 0);
      this.branches.delete(run);
      void run.close();
    }
  }
}

/** Ends the reading of runs whose calls have ended, and says whether there is anything left of them. */
function stillOpen(workers: readonly Worker[]): boolean {
  const runs = workers.flatMap(({ run }) => (run === undefined ? [] : [run]));
  for (const run of runs) run.end();
  return runs.some((run) => !run.isDrained());
}

/** The sub-agent whose result is next, when nothing of it is stored although it has answered; said once. */
function absentBefore({ head, below, seen }: Branch): TreeRun | undefined {
  if (head?.kind !== 'event' || head.event.stamp.seq <= seen) return undefined;
  const { event } = head;
  if (event.type !== 'tool_finished' || event.child === undefined) return undefined;
  const worker = below.get(event.child);
  const isAbsent = worker?.run?.lastSeq === -1 && event.status === 'ok' && !event.synthetic;
  if (!isAbsent || worker?.run === undefined || worker.isOver) return undefined;
  worker.isOver = true;
  return worker.run.of;
}
