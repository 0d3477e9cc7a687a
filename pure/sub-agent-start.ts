/**
 * What a sub-agent is started with: its whole start as it lies in the store, of which its workflow has the digest.
 * Invariant: whoever starts a run with the id of a sub-agent gives it nothing that its parent has not said.
 */
import type { StartedAgent } from '../core/state/started-agent.js';
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
  /** Of one that came with the start of its root: its definition lies here and in no worker. */
  readonly role?: StartedRole;
}

export interface StartedRole {
  /** The agent whose role it is. */
  readonly of: string;
  readonly name: string;
  readonly definition: StartedAgent;
}
