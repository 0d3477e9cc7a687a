/** A stop reason in the words of a dialect, or in another specification's word that means one thing. */
import { DIALECTS, stopReasonAs, type Dialect } from '../dialects.js';
import { STOP_MEANINGS } from '../../core/step/stop.js';
import type { RunResult } from '../../core/state/result.js';

/** A reason of the task's own domain, which lies in `detail`. */
const DOMAIN_REASON = 'policy_blocked';

export function hasStopReason(
  result: Pick<RunResult, 'stopReason' | 'phase' | 'detail'>,
  wanted: string,
  dialect: Dialect | undefined,
): boolean {
  if (wanted === DOMAIN_REASON)
    return result.detail === wanted && result.stopReason !== 'completed';
  if (dialect !== undefined) return stopReasonAs(result, dialect) === wanted;
  if (Object.hasOwn(STOP_MEANINGS, wanted)) return result.stopReason === wanted;
  return DIALECTS.some((one) => stopReasonAs(result, one) === wanted);
}
