/** The status of a run as the store can know it: from its result, else from its pending asks. */
import type { AskKind } from '../core/ask/ask.js';
import type { RunStatus } from '../core/result.js';
import type { RunViewStatus } from '../core/view.js';

export type StoredRunStatus = Exclude<RunViewStatus, 'closing'>;
export type LiveStatus = Exclude<StoredRunStatus, RunStatus>;

/** When several asks are open, the first of this list names the status. */
export const AWAITING: readonly (readonly [kind: AskKind, status: LiveStatus])[] = [
  ['outcome', 'awaiting_outcome'],
  ['approval', 'awaiting_approval'],
  ['budget', 'awaiting_budget'],
  ['input', 'awaiting_input'],
  ['user_message', 'awaiting_user'],
];
