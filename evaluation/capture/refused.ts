/** Why a recorded run is not made into a case: never a case that would say something else. */
import { HoldfastError } from '../../core/state/errors.js';

const KEEP =
  'Keep the run as a bundle: `holdfast export RUN` writes it, and `holdfast replay FILE` checks it.';

export function refused(reason: string, hint = KEEP): HoldfastError {
  return new HoldfastError('CaptureRefused', `The run cannot be made into a case: ${reason}.`, {
    hint,
  });
}

/** Of whoever has the bundle in hand. */
export function refusedOnPast(error: unknown): unknown {
  if (!(error instanceof HoldfastError) || error.hint !== KEEP) return error;
  return new HoldfastError(error.code, error.message, {
    hint: 'No other model or configuration can be tried on this run. `holdfast replay RUN` without --config checks its record.',
    cause: error,
  });
}
