/** What a fork of a recorded run begins with. Plain JSON; it lies in the store beside the runs, and the start names it. */
import type { StoredText } from '../json/json.js';
import type { CallFact } from './call.js';
import type { Frozen } from './frozen.js';
import type { Run } from './run.js';

export interface Fork {
  /** The recorded run as it was after the step. */
  readonly run: Run;
  readonly step: number;
  /** By call id: what the record knows of calls that were in flight then. */
  readonly outcomes: { readonly [callId: string]: CallFact };
  /** By call id: results in place of those that calls of the turn at hand had, or would have. */
  readonly results?: { readonly [callId: string]: StoredText };
  /** In place of what the parent was frozen with. */
  readonly frozen?: Frozen;
  /** The conversation under another root; absent: as it was. */
  readonly head?: string;
  /** Said by the user before the next request. */
  readonly message?: string;
  /** Next to go on by the parent's rules: absent for the newest. */
  readonly keepsRules?: true;
}
