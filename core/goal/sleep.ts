/**
 * How a goal sleeps: by its pace, and by pauses that cycles or the reviewer asked for.
 * Invariant: a sleep is ended only by its time, a wake, the resume of a pause, another pace, or the end of the goal.
 */
import type { ActivityEffect } from '../state/effect.js';
import type { OpenGoal } from '../state/goal/goal.js';
import type { Step } from '../state/run.js';
import type { Ruling } from '../step/advance.js';
import { nextId, only, start, startTimer } from '../step/inflight.js';
import { withoutProposed } from './answers.js';
import { GOAL_STORE_LIMITS, ofGoal, tell } from './telling.js';
import { isResting } from './pending.js';

/** Rule: a person holds the goal. */
export function holdPaused(goal: OpenGoal): Ruling<OpenGoal> {
  const { paused, sleep } = goal;
  if (!isResting(goal) || paused === undefined) return undefined;
  if (sleep !== undefined) return 'hold';
  const because = `paused by ${paused.by}`;
  const held: OpenGoal = { ...goal, sleep: { because, since: goal.now, held: true } };
  return only(tell(held, { type: 'goal_sleeping', because }));
}

/** Rule: the pace, and pauses that cycles or the reviewer asked for. */
export function pace(goal: OpenGoal): Ruling<OpenGoal> {
  if (!isResting(goal)) return undefined;
  const { sleep } = goal;
  if (sleep === undefined) return beginSleep(goal);
  if (sleep.over) return undefined;
  if (sleep.asking !== undefined) return 'hold';
  return sleep.until !== undefined && goal.now >= sleep.until ? only(wake(goal, 'time')) : 'hold';
}

function beginSleep(goal: OpenGoal): Ruling<OpenGoal> {
  const { terms, proposed, lastCycleStart } = goal;
  const { pauseUntil, pauseBecause = 'asked' } = proposed;
  if (goal.wakeKept) return skipSleep(goal);
  const rest = withoutProposed(goal, 'pauseUntil', 'pauseBecause');
  const asked = pauseUntil !== undefined && pauseUntil > goal.now ? pauseUntil : undefined;
  const paceOf = terms.pace;
  if (typeof paceOf === 'object' && 'cron' in paceOf) return askTick(goal, paceOf);
  if (paceOf === 'when_woken' && lastCycleStart !== undefined)
    return fallAsleep(rest, { because: asked === undefined ? 'waits to be woken' : pauseBecause });
  const next =
    typeof paceOf === 'object' && lastCycleStart !== undefined
      ? lastCycleStart + paceOf.everyMs
      : undefined;
  const until = later(asked, next !== undefined && next > goal.now ? next : undefined);
  if (until === undefined) return undefined;
  return fallAsleep(rest, { until, because: until === asked ? pauseBecause : 'pace' });
}

function later(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : other === undefined ? one : Math.max(one, other);
}

/** A wake that was kept ends the sleep before it begins. */
function skipSleep(goal: OpenGoal): Ruling<OpenGoal> {
  const rest = withoutProposed({ ...goal, wakeKept: false }, 'pauseUntil', 'pauseBecause');
  return only({ ...rest, sleep: { because: 'woken', since: goal.now, over: true } });
}

function askTick(
  goal: OpenGoal,
  { cron, timezone }: { readonly cron: string; readonly timezone: string },
): Step<OpenGoal> {
  const id = `find_tick-${goal.nextEffect}`;
  const sleep = { because: 'pace', since: goal.now, asking: id };
  return start({ ...goal, sleep }, 'find_tick', (_, events): ActivityEffect => ({
    kind: 'find_tick',
    id,
    // Ticks that passed in a cycle, or while the goal was held, are one.
    input: {
      ...ofGoal(goal),
      cron,
      timezone,
      after: goal.lastCycleStart ?? goal.startedAt,
      events,
    },
    limits: GOAL_STORE_LIMITS,
    summary: cron,
  }));
}

/** Fact: the next tick of the cron line is known. */
export function tickFound(goal: OpenGoal, effectId: string, at: number | null): OpenGoal {
  const { sleep, proposed } = goal;
  if (sleep?.asking !== effectId) return goal;
  const { asking: _, ...rest } = sleep;
  const asked = proposed.pauseUntil;
  const until = at === null ? undefined : later(at, asked);
  return { ...goal, sleep: { ...rest, found: true, ...(until !== undefined && { until }) } };
}

/** Rule: a tick that was found is slept for. */
export function sleepForTick(goal: OpenGoal): Ruling<OpenGoal> {
  const { sleep } = goal;
  if (!isResting(goal) || sleep?.found !== true) return undefined;
  const { until, because } = sleep;
  const rest = withoutProposed(goal, 'pauseUntil', 'pauseBecause');
  if (goal.wakeKept) return skipSleep(rest);
  if (until !== undefined && until <= goal.now)
    return only({ ...rest, sleep: { because, since: goal.now, over: true } });
  return fallAsleep(rest, { because, ...(until !== undefined && { until }) });
}

function fallAsleep(
  goal: OpenGoal,
  { until, because }: { readonly until?: number; readonly because: string },
): Step<OpenGoal> {
  const sleep = { because, since: goal.now, ...(until !== undefined && { until }) };
  const told = tell(
    { ...goal, sleep },
    { type: 'goal_sleeping', because, ...(until !== undefined && { until }) },
  );
  if (until === undefined) return only(told);
  const timed = startTimer(told, { at: until, summary: 'sleep' });
  const timer = nextId(told, 'timer');
  return { run: { ...timed.run, sleep: { ...sleep, timer } }, effects: timed.effects };
}

/** The sleep ends; whoever calls takes its timer away. */
export function wake(goal: OpenGoal, by: string): OpenGoal {
  const { sleep } = goal;
  if (sleep === undefined || sleep.over) return goal;
  const woken: OpenGoal = {
    ...goal,
    sleep: { because: sleep.because, since: sleep.since, over: true },
  };
  return tell(woken, { type: 'goal_woken', by, sleptMs: goal.now - sleep.since });
}
