/** An agent as the worker holds it, checked. */
import type { Json } from '../core/json/json.js';
import type { HandoffTarget } from '../core/state/handoff.js';
import type { Policy } from '../core/state/policy.js';
import type { StartedAgent } from '../core/state/started-agent.js';
import type { TreeLimits } from '../core/state/sub-agent.js';
import type { WatchedEvent } from '../core/state/supervision.js';
import type { BudgetOverrides, SettingsOverrides } from '../core/state/task.js';
import type { Hook } from './hook.js';
import type { TaskGate } from './task-gate.js';
import type { Tool } from './tool.js';

/** A checked agent. Made by `defineAgent`. */
export interface Agent {
  readonly name: string;
  readonly version: string;
  readonly model: string;
  readonly instructions: string;
  readonly tools: readonly Tool[];
  /** Names of connectors, or of tools of them. */
  readonly mcp: readonly string[];
  readonly hooks: readonly Hook[];
  readonly refuseTask?: TaskGate;
  /** To whom its model may hand a run over. */
  readonly handoffTo: readonly HandoffTarget[];
  readonly policy: Policy;
  readonly budget: BudgetOverrides;
  readonly settings: SettingsOverrides;
  /** By the name that its model uses; absent: it has none. */
  readonly agents?: ReadonlyMap<string, DeclaredSubAgent>;
  /** Of the trees that begin with it. */
  readonly agentLimits?: TreeLimits;
  /** Folder of the worker's machine that work folders of its runs begin with, absolute; absent: they are empty. */
  readonly seed?: string;
  /** Who looks at its runs; absent: nobody. */
  readonly supervisor?: Supervisor;
}

/** Another agent, without anything to act with, and when it looks. */
export interface Supervisor {
  readonly agent: Agent;
  readonly everyTurns?: number;
  readonly on?: readonly WatchedEvent[];
  readonly roles: readonly string[];
}

/** One that an agent may start. */
export interface DeclaredSubAgent {
  /** For the model that may start it. */
  readonly description: string;
  readonly agent: Agent;
  readonly model?: string;
  readonly budget: BudgetOverrides;
  readonly settings: SettingsOverrides;
  readonly tools?: readonly string[];
  readonly outputSchema?: Json;
  readonly parallel?: boolean;
  /** It came with the start of a run. */
  readonly started?: StartedAgent;
}
