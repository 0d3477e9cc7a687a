/**
 * Where the worker of a run is killed, the same for the same seed and run.
 * A kill is either exact, at a boundary where the worker stands still, or falls around something that is
 * seen from outside: a model request, a read, a write or an approval, before what was asked for is answered,
 * after it took effect but unheard, or a few milliseconds around it.
 */
import {
  CRASH_BOUNDARIES,
  drawBelow,
  planCrash,
  seededRandom,
  type CrashBoundary,
  type PassageCounts,
} from '../../testing/index.js';
import type { PlayedRun } from './played-run.js';

export const KILL_MODES = ['none', 'random', 'every', ...CRASH_BOUNDARIES] as const;
export type KillMode = (typeof KILL_MODES)[number];

export type KillPoint = 'model' | 'read' | 'write' | 'approval';

export interface MomentPlan {
  readonly kind: 'moment';
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

export interface BoundaryPlan {
  readonly kind: 'boundary';
  readonly boundary: CrashBoundary;
  /** Which passage of the boundary, from 0. */
  readonly nth: number;
  /** The worker is frozen there until it has long been given up, and then goes on. */
  readonly pause?: true;
}

export type KillPlan = MomentPlan | BoundaryPlan;

/** Enough to fall into whatever follows: storing, the next activity, the next request. */
const DELAY_MS_MAX = 60;
/** Streams of the seed for each boundary; runs are fewer. */
const BOUNDARY_STREAMS = 1_000_003;
const MOMENTS = ['before', 'after', 'around'] as const;

/** One plan for each time that the run is to be played; none when it never passes the boundary. */
export function plansOf(
  mode: Exclude<KillMode, 'none'>,
  seed: number,
  run: PlayedRun,
): readonly KillPlan[] {
  if (mode === 'random') return [planKill(seed, run)];
  const boundaries = mode === 'every' ? CRASH_BOUNDARIES : [mode];
  return boundaries.flatMap((boundary) => planAt(seed, run, boundary) ?? []);
}

/** A plan for one run, of either kind. */
export function planKill(seed: number, run: PlayedRun): KillPlan {
  const random = seededRandom(seed, run.index);
  if (drawBelow(random, 2) === 0) return planMoment(random, run);
  return planAt(seed, run) ?? planMoment(random, run);
}

/**
 * Where the worker of a run is frozen: with a claim in hand, where it is the most dangerous, or else with a
 * question to the model under way.
 */
export function planPause(seed: number, run: PlayedRun): BoundaryPlan {
  const held =
    planAt(seed, run, 'after-claim') ??
    planAt(seed, run, 'after-model-request') ??
    ({ kind: 'boundary', boundary: 'after-model-request', nth: 0 } as const);
  return { ...held, pause: true };
}

/** Why a run is not played when its worker is to die there. */
export function neverComesTo(kill: KillMode): string {
  const never = `which never come to ${kill}`;
  switch (kill) {
    case 'before-claim':
    case 'after-claim':
      return `${never} (only a call that changes something is claimed)`;
    case 'after-effect':
    case 'after-record':
      return `${never} (no call of theirs changed anything)`;
    default:
      return never;
  }
}

/** How a plan is said. */
export function describePlan(plan: KillPlan): string {
  if (plan.kind === 'moment') {
    return `${plan.when} ${plan.at} ${plan.nth + 1}, ${plan.delayMs} ms`;
  }
  return `${plan.pause === true ? 'frozen ' : ''}${plan.boundary} ${plan.nth + 1}`;
}

/** At any boundary that the run passes, unless one is named. */
function planAt(seed: number, run: PlayedRun, boundary?: CrashBoundary): BoundaryPlan | undefined {
  // Each boundary at a place of its own, which is not that of a moment either.
  const number = CRASH_BOUNDARIES.findIndex((one) => one === boundary) + 2;
  const plan = planCrash({
    seed,
    stream: run.index + BOUNDARY_STREAMS * number,
    passages: passagesOf(run),
    ...(boundary !== undefined && { boundary }),
  });
  return plan === undefined ? undefined : { kind: 'boundary', ...plan };
}

/** How often the run passes each boundary when nothing goes wrong. */
export function passagesOf(run: PlayedRun): PassageCounts {
  const calls = [...run.calls.values()];
  const writes = calls.filter((call) => call.writes);
  // A refusal is thrown, so the tool does not return.
  const returned = writes.filter((call) => !call.error).length;
  const replies = run.replies.length;
  return {
    'before-model-request': replies,
    'after-model-request': replies,
    'mid-stream': replies,
    'after-model-reply': replies,
    'before-claim': writes.length,
    'after-claim': writes.length,
    'after-effect': returned,
    'after-record': returned,
    'after-completion': replies + calls.length,
    'while-parked': run.exchanges.length + writes.length,
  };
}

function planMoment(random: () => number, run: PlayedRun): MomentPlan {
  const writes = [...run.calls.values()].filter((call) => call.writes).length;
  const counts: readonly (readonly [KillPoint, number])[] = [
    ['model', run.replies.length],
    ['read', run.calls.size - writes],
    ['write', writes],
    ['approval', writes],
  ];
  const possible = counts.filter(([, count]) => count > 0);
  const [at, count] = possible[drawBelow(random, possible.length)] ?? ['model', 1];
  return {
    kind: 'moment',
    at,
    nth: drawBelow(random, count),
    when: MOMENTS[drawBelow(random, MOMENTS.length)] ?? 'around',
    delayMs: drawBelow(random, DELAY_MS_MAX + 1),
  };
}
