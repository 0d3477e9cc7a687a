/**
 * What a recorded run was after each of its steps: the core, given the inputs that its histories have. No server, no
 * store, no model, no tool.
 * A step is one decision of the workflow: it received facts, rules fired, effects began. Steps count from 1 over all
 * segments; before the first there is nothing.
 * Invariants:
 *  T1 Each segment begins with the state that the one before handed over, as it was recorded.
 *  T2 What the core commands is compared with the history. From the first step that differs to the end of its segment
 *     there are no steps: nobody knows what the run would have been told there.
 *  T3 `at` gives the same for the same step, in whatever order steps are asked for.
 */
import { setImmediate as others } from 'node:timers/promises';
import type { Carrier } from '../core/state/carrier.js';
import { HoldfastError } from '../core/state/errors.js';
import type { Goal } from '../core/state/goal/goal.js';
import type { GoalInput } from '../core/state/goal/input.js';
import type { Input } from '../core/state/input.js';
import type { Run } from '../core/state/run.js';
import type { Segment } from './chain.js';
import type { Divergence } from './divergence.js';
import { attributesOf, textAt } from './history.js';
import { GOAL, RUN, type Machine } from './machines.js';
import type { FoldStep, Moment } from './steps.js';
import { readingOf, walkOf, type Place, type Walk, type Walked } from './walk.js';

/** Any bundle is one, and so is what is fetched of a live run. */
export interface RecordedRun {
  readonly run: { readonly tenant: string; readonly runId: string };
  readonly segments: readonly Pick<Segment, 'segment' | 'execution' | 'events'>[];
}

interface FoldOf<Kind, S, I> {
  readonly kind: Kind;
  readonly run: RecordedRun['run'];
  readonly steps: readonly FoldStep[];
  /** Where the code of today decides otherwise than the record, at most one for each segment. */
  readonly divergences: readonly Divergence[];
  /** Errors: `StepNotFound`. */
  at(step: number): Moment<S, I>;
}

export type RunFold = FoldOf<'run', Run, Input>;
export type GoalFold = FoldOf<'goal', Goal, GoalInput>;
export type Fold = RunFold | GoalFold;

/** Steps from one place to the next that is kept: as far as `at` has to go. */
const STEPS_BETWEEN_KEPT = 2;
const STRETCHES_KEPT = 8;
const STEPS_OF_SLICE = 32;

export function foldOf(recorded: RecordedRun): Fold {
  const folding = foldingOf(recorded);
  for (;;) {
    const { done, value } = folding.next();
    if (done === true) return value;
  }
}

/** The same without holding up what else the process does. */
export async function foldInSlices(recorded: RecordedRun): Promise<Fold> {
  const folding = foldingOf(recorded);
  for (let steps = 1; ; steps += 1) {
    const { done, value } = folding.next();
    if (done === true) return value;
    if (steps % STEPS_OF_SLICE === 0) await others();
  }
}

/** Gives way behind each step. */
function* foldingOf(recorded: RecordedRun): Generator<void, Fold> {
  return kindOf(recorded.segments[0]) === 'goal'
    ? { kind: 'goal', ...(yield* foldWith(GOAL, recorded)) }
    : { kind: 'run', ...(yield* foldWith(RUN, recorded)) };
}

/** `first`: of its segments. */
export function kindOf(first: RecordedRun['segments'][number] | undefined): Fold['kind'] {
  const started = attributesOf(first?.events[0], 'workflowExecutionStarted');
  return textAt(started, 'workflowType', 'name') === 'goalRun' ? 'goal' : 'run';
}

interface Kept<S> {
  /** Of the first step from here. */
  readonly step: number;
  readonly segment: number;
  readonly place: Place<S> | undefined;
}

function* foldWith<S extends Carrier, I extends { readonly type: string }>(
  machine: Machine<S, I>,
  { run, segments }: RecordedRun,
): Generator<void, Omit<FoldOf<'run', S, I>, 'kind'>> {
  const steps: FoldStep[] = [];
  const kept: Kept<S>[] = [];
  const divergences: Divergence[] = [];
  const readings = segments.map((segment) => readingOf(segment, run.runId));
  for (const [segment, reading] of readings.entries()) {
    kept.push({ step: steps.length + 1, segment, place: undefined });
    const walk = numbered(walkOf(machine, reading, undefined), steps.length + 1);
    let next = walk.next();
    for (; next.done !== true; next = walk.next()) {
      const { moment, place } = next.value;
      steps.push(lineOf(moment));
      if (place !== undefined && steps.length >= kept.at(-1)!.step + STEPS_BETWEEN_KEPT - 1) {
        kept.push({ step: steps.length + 1, segment, place });
      }
      yield;
    }
    if (next.value !== undefined) divergences.push({ ...next.value, segment });
  }
  /** By their places in `kept`, the oldest first. */
  const stretches = new Map<number, readonly Moment<S, I>[]>();
  return {
    run,
    steps,
    divergences,
    at(step) {
      if (!Number.isInteger(step) || step < 1 || step > steps.length) {
        throw noSuchStep(step, steps.length);
      }
      const index = kept.findLastIndex((one) => one.step <= step);
      const from = kept[index]!;
      const known = stretches.get(index);
      const until = kept[index + 1]?.step ?? steps.length + 1;
      const moments = known ?? momentsOf(from, until - from.step);
      // Whoever looks at a step mostly looks at its neighbours next, and at the request before it.
      if (known === undefined && stretches.set(index, moments).size > STRETCHES_KEPT) {
        stretches.delete([...stretches.keys()][0]!);
      }
      return { ...moments[step - from.step]!, step };
    },
  };

  function momentsOf({ segment, place }: Kept<S>, count: number): readonly Moment<S, I>[] {
    const moments: Moment<S, I>[] = [];
    if (count === 0) return moments;
    for (const { moment } of walkOf(machine, readings[segment]!, place)) {
      if (moments.push(moment) >= count) break;
    }
    return moments;
  }
}

/** Steps from a number on; a divergence is where the next step would be. */
export function* numbered<S, I>(
  walk: Walk<S, I>,
  from: number,
): Generator<Walked<S, I>, Omit<Divergence, 'segment'> | undefined> {
  let step = from;
  for (;;) {
    const next = walk.next();
    if (next.done === true) return next.value && { ...next.value, step };
    yield { ...next.value, moment: { ...next.value.moment, step } };
    step += 1;
  }
}

/** What the index has of a moment. */
export function lineOf(moment: FoldStep): FoldStep {
  const { step, segment, eventId, at: time, inputs, rules, effects, events } = moment;
  return { step, segment, eventId, at: time, inputs, rules, effects, events };
}

export function noSuchStep(step: number, steps: number): HoldfastError {
  return new HoldfastError('StepNotFound', `There is no step ${step}: the run has ${steps}.`, {
    hint: steps === 0 ? 'The run has decided nothing yet.' : `Name a step from 1 to ${steps}.`,
    details: { step, steps },
  });
}
