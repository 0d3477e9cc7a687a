/** Carries a kill plan out, once: told of what a run does, or waiting for the worker to stand at a boundary. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BoundaryPlan, KillPoint, MomentPlan } from './kill-plan.js';
import type { Lane } from './lane.js';

export interface KillSwitch {
  /**
   * The run reached its `count`-th point of this kind. Gives how the kill falls there when it is this
   * one's turn, which happens once; whoever asked calls `fire` at that moment.
   */
  reached(at: KillPoint, count: number): MomentPlan['when'] | undefined;
  /** Kills after the plan's delay; resolves when the worker is gone. */
  fire(): Promise<void>;
  /** The run's `count`-th question is about to be answered; resolves when it may be. */
  answering(count: number): Promise<void>;
  kills(): number;
  /** Resolves when a kill that was set off is over. */
  settled(): Promise<void>;
}

/** A switch that never fires. */
export const NO_KILL: KillSwitch = {
  reached: () => undefined,
  fire: () => Promise.resolve(),
  answering: () => Promise.resolve(),
  kills: () => 0,
  settled: () => Promise.resolve(),
};

export function killSwitch(plan: MomentPlan, crash: () => Promise<void>): KillSwitch {
  let reached = false;
  let fired: Promise<void> | undefined;
  const kill = async (): Promise<void> => {
    await sleep(plan.delayMs);
    await crash();
  };
  return {
    ...NO_KILL,
    reached(at, count) {
      if (reached || at !== plan.at || count !== plan.nth) return undefined;
      reached = true;
      return plan.when;
    },
    fire: () => (fired ??= kill()),
    kills: () => (fired === undefined ? 0 : 1),
    settled: async () => fired,
  };
}

/** So long a question stays open for a worker that is to die meanwhile. */
const PARKED_MS_MAX = 20_000;

export interface BoundaryKill {
  readonly plan: BoundaryPlan;
  readonly runId: string;
  readonly lane: Lane;
  /** What becomes of a worker that stands at the boundary; `goOn` lets it go on. */
  readonly crash: (goOn: () => void) => Promise<void>;
}

/** Resolves when the worker knows where it has to stand still. */
export async function boundarySwitch(kill: BoundaryKill): Promise<KillSwitch> {
  const { plan, runId, lane } = kill;
  const { boundary, nth } = plan;
  let crashing: Promise<void> | undefined;
  const { reached } = await lane.standStillAt({ boundary, nth, runId });
  const over = reached.then((standing) => {
    if (standing === undefined) return undefined;
    crashing = kill.crash(() => standing.release());
    return crashing;
  });
  // Whoever settles the kill hears of it.
  over.catch(() => undefined);
  return {
    ...NO_KILL,
    async answering(count) {
      if (boundary !== 'while-parked' || count !== nth) return;
      const limit = new AbortController();
      const late = sleep(PARKED_MS_MAX, undefined, { signal: limit.signal }).catch(() => undefined);
      await Promise.race([over, late]);
      limit.abort();
    },
    kills: () => (crashing === undefined ? 0 : 1),
    settled: async () => crashing,
  };
}
