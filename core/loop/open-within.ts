/**
 * The opening of a run within its first task: one attempt of `open_run` as a local activity, for which the server has
 * neither an activity nor a task of its own.
 * Invariants:
 *  O1 One attempt of at most OPENING_MS, of the first segment alone, beside nothing else. Without an answer the same opening
 *     is an ordinary activity, which may be tried again for as long as it takes.
 *  O2 Only a task that begins soon after its start is used: a later one may be a task whose worker an attempt took down, and
 *     the server gives it out again without end.
 *  O3 What is decided here precedes the run's rules: the code that decides the first step says by its name which it knows.
 */
import type { StartInput } from '../state/task.js';
import type { EffectInput } from '../state/input.js';
import type { InFlight } from '../state/carrier.js';
import type { ActivityEffect, EffectLimits, OpenRunInput } from '../state/effect.js';
import type { Run } from '../state/run.js';
import { FIRST_RULES, follows } from '../step/changes.js';

/** All that it may take, ms: so long whoever reaches for the run may wait. */
const OPENING_MS = 1_000;

interface FirstTask {
  /** Workflow time of the first task, ms since epoch. */
  readonly at: number;
  readonly rules?: number | undefined;
  readonly takenAt?: number | undefined;
  readonly taskMs?: number | undefined;
}

/** From the start to its first task, ms, and half of the task's own time: a task is given up, and tried again, after that time. */
const IN_TIME_MS = 5_000;

/** A task of less time would be over before the attempt is, ms. */
const TASK_MS_MIN = 2 * OPENING_MS;

/** A fork has the state of another run to read, which may be large. */
export function isTriedWithin(
  { fork }: StartInput,
  { at, takenAt, taskMs = 0, rules = FIRST_RULES }: FirstTask,
): boolean {
  if (takenAt === undefined || fork !== undefined || taskMs < TASK_MS_MIN) return false;
  return follows({ rules }, 'openedWithin') && at - takenAt <= Math.min(IN_TIME_MS, taskMs / 2);
}

/** How the opening is tried: within the task, or by the limits of an ordinary activity. */
export function howOpened(
  { opensWithin }: Run,
  effectId: string,
  ordinary: EffectLimits,
): Pick<ActivityEffect, 'limits' | 'local'> & { readonly tried: Pick<OpenRunInput, 'quick'> } {
  if (opensWithin !== true) return { limits: ordinary, tried: {} };
  return {
    limits: { attemptMs: OPENING_MS, maximumAttempts: 1 },
    local: true,
    tried: { quick: { effectId, ms: OPENING_MS } },
  };
}

/** The attempt within the task gave no answer, whatever kept it from one. */
export function isOpenedElsewhere(
  { opensWithin }: Run,
  { kind }: InFlight,
  input: EffectInput,
): boolean {
  if (opensWithin !== true || kind !== 'open_run') return false;
  if (input.type === 'effect_failed') return true;
  return input.type === 'run_opened' && input.output.elsewhere !== undefined;
}

/** The next opening is an ordinary one. */
export function opensElsewhere(run: Run): Run {
  const { opensWithin: _, ...elsewhere } = run;
  return elsewhere;
}
