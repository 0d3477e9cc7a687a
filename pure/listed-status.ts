/** How a run stands in a list: as the store has it, or as Temporal ended it before it could say how it ended. */
import { STORED_STATUSES, type StoredRunStatus } from '../core/state/view.js';

export const LISTED_STATUSES = [...STORED_STATUSES, 'terminated', 'timed_out'] as const;
export type ListedStatus = (typeof LISTED_STATUSES)[number];

/** What Temporal alone says of a run, in its words. The store has `failed` and `cancelled` as well, of results. */
export const ENDS_BY_TEMPORAL = ['terminated', 'timed_out', 'failed', 'cancelled'] as const;
export type EndByTemporal = (typeof ENDS_BY_TEMPORAL)[number];

export function isEndByTemporal(status: unknown): status is EndByTemporal {
  return (ENDS_BY_TEMPORAL as readonly unknown[]).includes(status);
}

/** No store has these. */
export function isTemporalsAlone(
  status: ListedStatus | undefined,
): status is 'terminated' | 'timed_out' {
  return status === 'terminated' || status === 'timed_out';
}

/** How a run says itself that it ended. */
const OWN_ENDS = [
  'completed',
  'stopped',
  'failed',
  'cancelled',
] as const satisfies readonly StoredRunStatus[];
export type OwnEnd = (typeof OWN_ENDS)[number];

export function isOwnEnd(status: unknown): status is OwnEnd {
  return (OWN_ENDS as readonly unknown[]).includes(status);
}
