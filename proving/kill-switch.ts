/** Carries a kill plan out: told of every point that the run reaches, it kills once. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { KillPlan, KillPoint } from './kill-plan.js';

export interface KillSwitch {
  /**
   * The run reached its `count`-th point of this kind. Gives how the kill falls there when it is this
   * one's turn, which happens once; whoever asked calls `fire` at that moment.
   */
  reached(at: KillPoint, count: number): KillPlan['when'] | undefined;
  /** Kills after the plan's delay; resolves when the worker is gone. */
  fire(): Promise<void>;
  kills(): number;
  /** Resolves when a kill that was set off is over. */
  settled(): Promise<void>;
}

/** A switch that never fires. */
export const NO_KILL: KillSwitch = {
  reached: () => undefined,
  fire: () => Promise.resolve(),
  kills: () => 0,
  settled: () => Promise.resolve(),
};

export function killSwitch(plan: KillPlan, crash: () => Promise<void>): KillSwitch {
  let reached = false;
  let fired: Promise<void> | undefined;
  const kill = async (): Promise<void> => {
    await sleep(plan.delayMs);
    await crash();
  };
  return {
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
