/** What must hold of a tree of sub-agents in the simulation, looked at after each decision of each of its runs. */
import { committedMicroUsd, costMicroUsd } from '../../../core/money/budget.js';
import type { Usage } from '../../../core/state/model.js';
import { isOpen, type Run } from '../../../core/state/run.js';
import { currentRoute } from '../../../core/step/route.js';
import type { FamilyMember } from '../../../testing/simulation/family.js';
import type { Simulation } from '../../../testing/simulation/index.js';

export const ROOT = 'run_1';

export interface PlayedTree {
  readonly broken: readonly string[];
  readonly children: number;
  /** Generations below the root. */
  readonly depth: number;
  readonly lost: number;
  /** Answers to sub-agents that wanted more, in micro-USD; 0: a no. */
  readonly given: readonly number[];
  readonly kills: number;
  readonly stopReason: string;
}

/** What the seed decides before anything happens. */
export interface Plan {
  readonly limits: { readonly depth: number; readonly atOnce: number; readonly inAll: number };
  readonly maxCostMicroUsd: number;
  readonly toolExecution: 'serial' | 'batched';
  /** ms after the start. */
  readonly kills: readonly number[];
  readonly cancelAfterMs: number | undefined;
  /** Runs that have used up their money ask for more; a person answers the root. */
  readonly asks: boolean;
  /** Of 100 sub-agents so many are lost. */
  readonly lostPercent: number;
}

const generationOf = (runId: string): number => runId.split(':a').length - 1;
const parentOf = (runId: string): string => runId.replace(/:a\d+$/, '');

interface TreeEnd {
  readonly costMicroUsd: number;
  readonly rows: readonly { readonly child: string; readonly state: string }[];
}

export class TreeWatch {
  private readonly found = new Set<string>();
  private readonly given: number[] = [];
  private readonly starts = new Map<string, number>();
  private readonly gone = new Set<string>();
  private simulation: Simulation | undefined;
  private root: Run | undefined;

  constructor(
    private readonly plan: Plan,
    private readonly billed: () => number,
  ) {}

  attach(simulation: Simulation): void {
    this.simulation = simulation;
  }

  priceOf(usage: Usage): number {
    const { root } = this;
    if (root === undefined || !isOpen(root)) throw new Error('the root is not open');
    return costMicroUsd(usage, currentRoute(root).prices);
  }

  begun(child: string): void {
    this.starts.set(child, (this.starts.get(child) ?? 0) + 1);
  }

  /** As if its execution were terminated: it decides nothing more, and tells nobody. */
  lose(runId: string): void {
    const process = this.simulation?.members.get(runId)?.process;
    if (process === undefined || process.isOver()) return;
    this.gone.add(runId);
    Object.assign(process, { isOver: () => true, isDue: () => false });
  }

  step(run: Run): void {
    if (run.runId === ROOT) this.root = run;
    if (!isOpen(run)) return;
    this.moneyOf(run);
    const open = [...(this.simulation?.members ?? [])].filter(
      ([id, { process }]) => id !== ROOT && !process.isOver() && !this.isBelowLost(id),
    );
    const { atOnce, depth } = this.plan.limits;
    if (open.length > atOnce) this.found.add(`${open.length} sub-agents are open at once`);
    const deep = open.find(([id]) => generationOf(id) > depth);
    if (deep !== undefined) this.found.add(`${deep[0]} is deeper than ${depth}`);
  }

  /** A sub-agent got so much more, or nothing. */
  answered(microUsd: number): void {
    this.given.push(microUsd);
  }

  /** Of the root now: people raise it. */
  private most(): number {
    const { maxCostMicroUsd } = this.plan;
    const now =
      this.root !== undefined && isOpen(this.root) && this.root.frozen.budget.maxCostMicroUsd;
    return typeof now === 'number' ? Math.max(now, maxCostMicroUsd) : maxCostMicroUsd;
  }

  private moneyOf(run: Run): void {
    if (!isOpen(run)) return;
    const { runId, frozen } = run;
    const committed = committedMicroUsd(run);
    const most = frozen.budget.maxCostMicroUsd;
    if (typeof most === 'number' && committed > most) {
      this.found.add(`${runId} has spent and reserved ${committed} of ${most}`);
    }
    const reserved = Object.values(run.money.reserved).reduce((sum, one) => sum + one, 0);
    if (committed !== run.money.spentMicroUsd + reserved) {
      this.found.add(`${runId} has reserved what it does not count`);
    }
    if (this.billed() > this.most()) {
      this.found.add(`${this.billed()} were billed of ${this.most()}`);
    }
    if (runId === ROOT || this.gone.has(runId) || this.isBelowLost(runId)) return;
    const above = this.simulation?.members.get(parentOf(runId))?.process.carrier();
    if (above === undefined || !isOpen(above)) return;
    const slice = above.money.reserved[runId];
    if (slice !== undefined && committed > slice) {
      this.found.add(`${runId} has spent and reserved ${committed}, its slice is ${slice}`);
    }
  }

  private isBelowLost(runId: string): boolean {
    return [...this.gone].some((lost) => runId.startsWith(`${lost}:a`));
  }

  end({ costMicroUsd: cost, rows }: TreeEnd): void {
    const { limits, kills } = this.plan;
    const maxCostMicroUsd = this.most();
    const members = this.simulation?.members ?? new Map<string, FamilyMember>();
    for (const violation of this.simulation?.violations ?? []) this.found.add(violation);
    for (const [child, times] of this.starts) {
      if (times > 1) this.found.add(`${child} was started ${times} times`);
    }
    if (rows.length > limits.inAll) this.found.add(`${rows.length} sub-agents in all`);
    const open = rows.find(({ state }) => state === 'open');
    if (open !== undefined) this.found.add(`the row of ${open.child} is open at the end`);
    for (const [id, { process }] of members) {
      const counts = !process.isOver() && !this.isBelowLost(id);
      if (counts) this.found.add(`${id} goes on after its root`);
    }
    if (cost > maxCostMicroUsd) this.found.add(`${cost} were spent of ${maxCostMicroUsd}`);
    if (cost < this.billed()) this.found.add(`${this.billed()} were billed, ${cost} are told`);
    const isPlain = kills.length === 0 && this.gone.size === 0 && !this.wasCancelled();
    if (isPlain && cost !== this.billed()) {
      this.found.add(`${cost} are told and ${this.billed()} were billed`);
    }
    const left = Object.keys(this.root?.money.reserved ?? {});
    if (left.length > 0) this.found.add(`the root ends with money reserved for ${left.join()}`);
  }

  private wasCancelled(): boolean {
    return this.plan.cancelAfterMs !== undefined;
  }

  played(stopReason: string): PlayedTree {
    const ids = [...(this.simulation?.members.keys() ?? [])];
    return {
      broken: [...this.found],
      children: ids.length - 1,
      depth: Math.max(0, ...ids.map(generationOf)),
      lost: this.gone.size,
      given: this.given,
      kills: this.plan.kills.length,
      stopReason,
    };
  }
}
