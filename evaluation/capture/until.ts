/** The beginning of a recording: what had happened when a step was over. */
import { HoldfastError } from '../../core/state/errors.js';
import { foldOf, type Fold } from '../../recording/fold.js';
import type { FoldStep } from '../../recording/steps.js';
import type { Bundle } from '../../replay/bundle.js';
import type { Recording } from './recording.js';

/** Steps are those of the fold. Errors: `StepNotFound`. */
export function recordingUntil(recording: Recording, number: number): Recording {
  const { bundle } = recording;
  const { step, place } = placeIn(bundle, foldOf(bundle), number);
  const [, next] = step.events;
  return {
    ...recording,
    bundle: { ...bundle, events: bundle.events.filter(({ stamp }) => stamp.seq < next) },
    activities: recording.activities.filter(({ to }) => to !== undefined && to < place),
    heard: recording.heard.filter(({ together }) => together.before <= place),
  };
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
