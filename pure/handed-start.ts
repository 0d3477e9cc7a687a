/**
 * What a run is started with that goes on with the task of another run: its whole start as it lies in the store, of which its
 * workflow has the digest.
 * Invariant: whoever starts a run with such an id gives it nothing that the run before has not said.
 */
import type { StoredText } from '../core/json/json.js';
import type { HandedFrom } from '../core/state/handoff.js';
import type { StartInput, Task } from '../core/state/task.js';

export interface HandedStart {
  readonly v: 1;
  /** In place of the task of the argument. */
  readonly task: Task;
  /** The argument of the workflow, but for whose task it has. */
  readonly start: Omit<StartInput, 'parent'>;
  readonly handedFrom: HandedFrom;
  /** Of the agent before: data, said behind the task. */
  readonly words: StoredText;
}
