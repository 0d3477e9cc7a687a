/** The status of a run as the store can know it: from its result, else from its pending asks. */
import type { RunStatus } from '../core/state/result.js';
import type { StoredRunStatus } from '../core/state/view.js';

export type { StoredRunStatus };
export type LiveStatus = Exclude<StoredRunStatus, RunStatus>;
