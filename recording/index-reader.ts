/**
 * The steps of a recorded run whose segments come one by one, the oldest first, and are let go.
 * Invariant: each step is the one that `at` of a fold gives.
 */
import type { Carrier } from '../core/state/carrier.js';
import type { Goal } from '../core/state/goal/goal.js';
import type { GoalInput } from '../core/state/goal/input.js';
import type { Input } from '../core/state/input.js';
import type { Run } from '../core/state/run.js';
import type { Divergence } from './divergence.js';
import { kindOf, numbered, type Fold, type RecordedRun } from './fold.js';
import { GOAL, RUN, type Machine } from './machines.js';
import type { Moment } from './steps.js';
import { readingOf, walkOf, type Reading } from './walk.js';

export type FoldMoment =
  | ({ readonly kind: 'run' } & Moment<Run, Input>)
  | ({ readonly kind: 'goal' } & Moment<Goal, GoalInput>);

export interface FoldEnd extends Pick<Fold, 'kind' | 'run' | 'divergences'> {
  /** How many there are. */
  readonly steps: number;
}

export interface IndexReader {
  segment(segment: RecordedRun['segments'][number]): void;
  /** Behind the last segment. */
  end(): FoldEnd;
}

/** `heard` is given each step as `at` of a fold gives it. */
export function indexReader(
  run: RecordedRun['run'],
  heard: (moment: FoldMoment) => void = () => undefined,
): IndexReader {
  const divergences: Divergence[] = [];
  let kind: Fold['kind'] | undefined;
  let steps = 0;
  let segments = 0;
  function follow<S extends Carrier, I extends { readonly type: string }>(
    machine: Machine<S, I>,
    reading: Reading,
    hear: (moment: Moment<S, I>) => void,
  ): void {
    const walk = numbered(walkOf(machine, reading, undefined), steps + 1);
    let next = walk.next();
    for (; next.done !== true; next = walk.next()) {
      hear(next.value.moment);
      steps += 1;
    }
    if (next.value !== undefined) divergences.push({ ...next.value, segment: segments });
    segments += 1;
  }
  return {
    segment(segment) {
      kind ??= kindOf(segment);
      const reading = readingOf(segment, run.runId);
      if (kind === 'goal') {
        follow(GOAL, reading, (moment) => heard({ kind: 'goal', ...moment }));
      } else {
        follow(RUN, reading, (moment) => heard({ kind: 'run', ...moment }));
      }
    },
    end: () => ({ run, kind: kind ?? 'run', steps, divergences }),
  };
}
