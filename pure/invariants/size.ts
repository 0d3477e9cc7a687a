/** Predicates over steps: nothing is started, and no run handed on, that is larger than its limit. */
import { CONTINUE_AS_NEW_BYTES_MAX, fitsBytes, PAYLOAD_BYTES_MAX } from '../../core/json/json.js';
import type { Run, Step } from '../../core/state/run.js';
import { started, type StepPredicate } from './step.js';

export const SIZE_PREDICATES: readonly StepPredicate[] = [payloadsFit, segmentsFit];

/** The first segment's opening carries the start as the caller sent it. */
function payloadsFit(_before: Run, step: Step): string | undefined {
  const large = started(step).find(
    (effect) =>
      !(effect.kind === 'open_run' && effect.input.start !== undefined) &&
      !fitsBytes(effect.input, PAYLOAD_BYTES_MAX),
  );
  return large === undefined ? undefined : `the payload of a ${large.kind} is too large`;
}

function segmentsFit(_before: Run, { run }: Step): string | undefined {
  return run.final?.kind === 'continue_as_new' && !fitsBytes(run, CONTINUE_AS_NEW_BYTES_MAX)
    ? 'the run is too large for its next segment'
    : undefined;
}
