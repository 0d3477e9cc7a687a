/**
 * What a sub-agent is started with: its whole start as it lies in the store, of which its workflow has the digest.
 * Invariant: whoever starts a run with the id of a sub-agent gives it nothing that its parent has not said.
 */
import type { Bounds } from '../core/state/sub-agent.js';
import type { StartInput, Task } from '../core/state/task.js';

export interface SubAgentStart {
  readonly v: 1;
  /** In place of the task of the argument. */
  readonly task: Task;
  /** The argument of the workflow, but for whose child it is. */
  readonly start: Omit<StartInput, 'parent'>;
  /** No other version of the agent works on it. */
  readonly agentVersion: string;
  readonly bounds: Bounds;
}
