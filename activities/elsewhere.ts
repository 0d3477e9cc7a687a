/** Why an attempt within a task is left to an ordinary activity, by what it threw. */
import { CancelledFailure } from '@temporalio/common';
import type { ElsewhereReason } from '../core/state/effect.js';
import { isStoreAway } from '../store/away.js';
import { toFailure } from './failure.js';

const STORE_ERRORS: readonly unknown[] = ['StoreUnavailable', 'TranscriptMissing', 'WrongStore'];

export function elsewhereReasonOf(error: unknown): ElsewhereReason {
  if (isStoreAway(error)) return 'store';
  const failed = toFailure(error);
  if (failed instanceof CancelledFailure) return 'stopping';
  return STORE_ERRORS.includes(failed.type) ? 'store' : 'unserved';
}
