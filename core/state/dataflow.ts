/** Dataflow: what a call says of other calls, and the values that calls have left (G1). */
import type { Condition } from '../json/condition.js';
import type { BlobRef } from '../json/json.js';

/** Paths are without the prefix `state.`. */
export interface Flow {
  readonly outputPath?: string;
  /** Ids of calls of the same reply. */
  readonly dependsOn?: readonly string[];
  readonly when?: Condition;
  /** Paths that the arguments refer to; none: the arguments are as they will be executed. */
  readonly refs: readonly string[];
}

/** A value of the state: the whole text of a result, large ones by reference (C39); `json`: it is no text. */
export type StateValue = ({ readonly text: string } | BlobRef) & { readonly json?: true };

export type State = { readonly [path: string]: StateValue };
