/** The beginning of a recording: what had happened when a step was over. */
import { HoldfastError } from '../../core/state/errors.js';
import { foldOf, type Fold } from '../../recording/fold.js';
import { attributesOf, textAt, type HistoryEvent } from '../../recording/history.js';
import { localEndOf } from '../../recording/markers.js';
import type { FoldStep } from '../../recording/steps.js';
import type { Bundle } from '../../replay/bundle.js';
import type { Recording } from './recording.js';

/** Steps are those of the fold. Errors: `StepNotFound`. */
export function recordingUntil(recording: Recording, number: number): Recording {
  const { bundle } = recording;
  const fold = foldOf(bundle);
  const { step, place } = placeIn(bundle, fold, number);
  const [, next] = step.events;
  const within = endsWithin(bundle, fold.steps.slice(0, number), place);
  return {
    ...recording,
    bundle: { ...bundle, events: bundle.events.filter(({ stamp }) => stamp.seq < next) },
    activities: recording.activities.filter(
      ({ to }) => to !== undefined && (to < place || within.includes(to)),
    ),
    heard: recording.heard.filter(({ together }) => together.before <= place),
  };
}

/**
 * Places of the markers of work within the task of the last of these steps, as far as the steps heard of its end: a task
 * writes all of them when its last step is over.
 */
function endsWithin(
  { segments }: Pick<Bundle, 'segments'>,
  steps: readonly FoldStep[],
  place: number,
): readonly number[] {
  const { segment, eventId } = steps.at(-1)!;
  const activities = new Set(segments[segment]?.events.map(activityIdOf));
  const heard = steps
    .filter((one) => one.segment === segment && one.eventId === eventId)
    .flatMap(({ inputs }) => inputs)
    .filter(({ type, id }) => ENDS_WITHIN.includes(type) && !activities.has(id));
  const markers = segments
    .flatMap(({ events }) => events)
    .flatMap((event, index) => (index > place && localEndOf(event) !== undefined ? [index] : []));
  return markers.slice(0, heard.length);
}

/** What runs hear of the ends of work that may be within a task. */
const ENDS_WITHIN: readonly string[] = ['run_opened', 'tool_returned'];

function activityIdOf(event: HistoryEvent): string | undefined {
  return textAt(attributesOf(event, 'activityTaskScheduled'), 'activityId');
}

/** A step, and the place of its event in all histories of the run. Errors: `StepNotFound`. */
export function placeIn(
  { segments }: Pick<Bundle, 'segments'>,
  { steps }: Pick<Fold, 'steps'>,
  number: number,
): { readonly step: FoldStep; readonly place: number } {
  const step = steps[number - 1];
  if (step === undefined) throw noSuchStep(number, steps.length);
  const before = segments.slice(0, step.segment);
  const offset = before.reduce((sum, { events }) => sum + events.length, 0);
  return { step, place: offset + step.eventId - 1 };
}

function noSuchStep(step: number, steps: number): HoldfastError {
  return new HoldfastError('StepNotFound', `There is no step ${step}: the run has ${steps}.`, {
    hint: `Name a step from 1 to ${steps} with --until.`,
    details: { step, steps },
  });
}
