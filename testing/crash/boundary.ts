/**
 * The named places of a run at which its worker can be made to die, and what has happened there.
 * Invariant: at a boundary the worker stands still as a whole, so a kill there is exact and never a race.
 */

/** In the order in which a turn reaches them. */
export const CRASH_BOUNDARIES = [
  'before-model-request',
  'after-model-request',
  'mid-stream',
  'after-model-reply',
  'before-claim',
  'after-claim',
  'after-effect',
  'after-record',
  'after-completion',
  'while-parked',
] as const;

export type CrashBoundary = (typeof CRASH_BOUNDARIES)[number];

/** What is true when a worker stands at the boundary. */
export const BOUNDARY_MEANINGS: { readonly [boundary in CrashBoundary]: string } = {
  'before-model-request': 'the attempt is written down, no request has left',
  'after-model-request': 'the model has the request, nothing of its answer was read',
  'mid-stream': 'a part of the reply was read; needs a reply that arrives in pieces',
  'after-model-reply': 'the whole reply was read, nothing of it is stored',
  'before-claim': 'a granted call is about to be claimed in the ledger',
  'after-claim': 'the call is claimed, its tool has not started',
  'after-effect': 'the tool has returned, the ledger does not know it',
  'after-record': 'the result is in the ledger, nobody has heard of it',
  'after-completion':
    'the server has the outcome of a model or tool call, the run does not know it',
  'while-parked': 'the run waits for a person, nothing is under way',
};

export interface CrashPoint {
  readonly boundary: CrashBoundary;
  /** Only what this run passes; default: whichever run comes first. */
  readonly runId?: string;
  /** Which passage of the boundary, from 0, counted from now on; default the first. */
  readonly nth?: number;
}

/** The kinds of activity whose outcome `after-completion` is about. */
export const COMPLETION_KINDS: ReadonlySet<string> = new Set(['call_model', 'execute_tool']);

/**
 * What becomes of the report of an activity's result. `drop`: it never leaves the worker, so the server takes
 * the activity for lost. `duplicate`: it is sent twice.
 */
export interface CompletionFault {
  readonly completion: 'drop' | 'duplicate';
  /** Kind of activity, such as `execute_tool`; default: any. */
  readonly of?: string;
  readonly runId?: string;
  readonly nth?: number;
}
