/** What has no room in a bundle. */
import { HoldfastError } from '../../core/state/errors.js';
import { BUNDLE_BYTES_MAX } from '../bundle.js';

/** Of a run as it was recorded: its pictures and sounds are taken out before a redacted bundle is bounded. */
export const RECORD_BYTES_MAX = 8 * BUNDLE_BYTES_MAX;

export function tooLargeBundle(): HoldfastError {
  return tooLarge(`The bundle would have more than ${BUNDLE_BYTES_MAX} bytes.`);
}

/** Of what lies on a disk between two looks. */
export function tooLargeRecord(bytesMax: number): HoldfastError {
  return tooLarge(`The run was recorded with more than ${bytesMax} bytes.`);
}

function tooLarge(message: string): HoldfastError {
  return new HoldfastError('InvalidBundle', message, {
    hint: 'Export the run without the runs below it (--alone), and each of them by its own id.',
  });
}
