/**
 * The beginning of a recorded goal: its cycles and passes up to a step. The case ends there, because its goal gets no more
 * cycles than that.
 */
import { HoldfastError } from '../../core/state/errors.js';
import { isOpenGoal, type Goal } from '../../core/state/goal/goal.js';
import { foldOf, type GoalFold } from '../../recording/fold.js';
import type { GoalRecording } from './goal-recording.js';
import { placeIn } from './until.js';

/** Steps are those of the fold. Errors: `StepNotFound`; `CaptureRefused` for a step within a pass, or before the first cycle had ended. */
export function goalUntil(recording: GoalRecording, number: number): GoalRecording {
  const { bundle, start } = recording;
  const fold = foldOf(bundle);
  if (fold.kind !== 'goal') return recording;
  const { step, place } = placeIn(bundle, fold, number);
  const goal = fold.at(number).after;
  if (!isBehindCycle(goal)) throw noEnd(fold, number);
  const closed = closedOf(goal);
  const [, next] = step.events;
  const { budget } = start.goal;
  return {
    ...recording,
    bundle: {
      ...bundle,
      events: bundle.events.filter(
        (event) => event.stamp.seq < next && !(event.type === 'cycle_started' && event.n > closed),
      ),
    },
    start: { ...start, goal: { ...start.goal, budget: { ...budget, maxCycles: closed } } },
    activities: recording.activities.filter(({ to }) => to !== undefined && to < place),
    heard: recording.heard.filter(({ together }) => together.before <= place),
    cycles: recording.cycles.filter(({ n }) => n <= closed),
  };
}

/** Of the cycle that is open nothing is taken over. */
function closedOf({ cycles, cycle }: Goal): number {
  return cycles - (cycle === undefined ? 0 : 1);
}

function isBehindCycle(goal: Goal): boolean {
  const { pass, ending } = goal;
  return isOpenGoal(goal) && pass === undefined && ending === undefined && closedOf(goal) > 0;
}

function noEnd({ steps, at }: GoalFold, number: number): HoldfastError {
  const found = steps.find(({ step }) => step > number && isBehindCycle(at(step).after));
  return new HoldfastError(
    'CaptureRefused',
    `At step ${number} no cycle of the goal had just ended.`,
    {
      hint:
        found === undefined
          ? 'Name an earlier step with --until, or capture the whole goal.'
          : `Name step ${found.step} with --until.`,
      details: { step: number },
    },
  );
}
