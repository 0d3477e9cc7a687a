/** How a run or goal ended, as a headline. */
import type { RunResult } from '../core/state/result.js';

/** `completed`, `stopped: max_cost`; a failure by its cause, not by the word twice. */
export function endingWords({
  status,
  stopReason,
  detail,
}: Pick<RunResult, 'status' | 'stopReason' | 'detail'>): string {
  if (status === 'completed') return status;
  if (status !== stopReason) return `${status}: ${stopReason}`;
  return detail === undefined ? status : `${status}: ${detail}`;
}

/** Whether the headline has said the detail already. */
export function headlineHasDetail({
  status,
  stopReason,
}: Pick<RunResult, 'status' | 'stopReason'>): boolean {
  return status === stopReason;
}
