/**
 * When the worker of a run is killed: a random point, the same for the same seed and run.
 * Points are model requests, reads, writes and approvals; the kill falls before what was asked for is
 * answered, after it took effect but unheard, or a few milliseconds around it.
 */
import type { PlayedRun } from './played-run.js';

export type KillPoint = 'model' | 'read' | 'write' | 'approval';

export interface KillPlan {
  readonly at: KillPoint;
  /** Which of the run's points of this kind, from 0. */
  readonly nth: number;
  /**
   * `before`: what was asked for is not done; `after`: it is done, and its answer is lost if it is still
   * on its way; `around`: nothing is held back, so any of these.
   */
  readonly when: 'before' | 'after' | 'around';
  readonly delayMs: number;
}

/** Enough to fall into whatever follows: storing, the next activity, the next request. */
const DELAY_MS_MAX = 60;
const MOMENTS = ['before', 'after', 'around'] as const;

/** A plan for one run. */
export function planKill(seed: number, run: PlayedRun): KillPlan {
  const random = randomOf(seed, run.index);
  const writes = [...run.calls.values()].filter((call) => call.writes).length;
  const counts: readonly (readonly [KillPoint, number])[] = [
    ['model', run.replies.length],
    ['read', run.calls.size - writes],
    ['write', writes],
    ['approval', writes],
  ];
  const possible = counts.filter(([, count]) => count > 0);
  const [at, count] = possible[below(random, possible.length)] ?? ['model', 1];
  return {
    at,
    nth: below(random, count),
    when: MOMENTS[below(random, MOMENTS.length)] ?? 'around',
    delayMs: below(random, DELAY_MS_MAX + 1),
  };
}

type Random = () => number;

function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

/** Mulberry32: small, and the same on every machine. Not for secrets. */
function randomOf(seed: number, stream: number): Random {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(stream + 1, 0x85ebca6b)) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
