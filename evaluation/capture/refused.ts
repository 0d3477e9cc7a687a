/** Why a recorded run is not made into a case: never a case that would say something else. */
import { HoldfastError } from '../../core/state/errors.js';

export function refused(
  reason: string,
  hint = 'Keep the run as a bundle: `holdfast export` writes it, and `holdfast replay` checks it.',
): HoldfastError {
  return new HoldfastError('CaptureRefused', `The run cannot be made into a case: ${reason}.`, {
    hint,
  });
}
