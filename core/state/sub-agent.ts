/**
 * Sub-agents of a run: who may be started, with which limits, and where a run stands in the tree of runs that began with
 * one start. A sub-agent is a durable run of its own; its parent waits for its result as for that of a tool.
 * Invariants: a child never may do more than its parent (`Bounds`), and never costs more than its parent gave it; the
 * limits of a tree are those of its root.
 */
import type { HookMatches } from './hook.js';
import type { PermissionMode } from './permission-mode.js';
import type { Policy } from './policy.js';
import type { StoredText } from '../json/json.js';
import type { BudgetOverrides, SettingsOverrides } from './task.js';

/** The built-in tool that starts a sub-agent by its name: {name, prompt}. */
export const AGENT_TOOL = 'agent';

/** Limits of a tree of runs; those of its root hold for all of them. */
export interface TreeLimits {
  /** Generations below the root. */
  readonly depth: number;
  /** Children open at one time, those of children among them. */
  readonly atOnce: number;
  /** Children over the whole life of the tree. */
  readonly inAll: number;
}

export const DEFAULT_TREE_LIMITS: TreeLimits = { depth: 2, atOnce: 4, inAll: 50 };

/** One that a run may start, as it is frozen when the run is opened. */
export interface SubAgent {
  /** Name in the configuration of the worker: `refund/auditor`, or that of an agent of its own. */
  readonly agent: string;
  readonly version: string;
  readonly model?: string;
  /** What its declaration says; named money is reserved in full or the child is not started. */
  readonly budget?: BudgetOverrides;
  readonly settings?: SettingsOverrides;
  /** Names of the tools that it is left with; absent: all that its parent and it have. */
  readonly tools?: readonly string[];
  /** JSON Schema of its answer, as JSON text. */
  readonly outputSchema?: StoredText;
  /** Runs beside others although it may change something; absent: only where all its tools are reads. */
  readonly parallel?: boolean;
  /** Of one that the start brought along: its definition (StartedAgent), as JSON text. */
  readonly role?: StoredText;
}

/** By the name that the model uses. */
export type SubAgents = { readonly [name: string]: SubAgent };

/** Where a run stands below its root. A run without it is a root. */
export interface Lineage {
  /** Run id of the root. */
  readonly root: string;
  /** Names of the agents from the root to the run, both among them. */
  readonly path: readonly string[];
  /** Id of the call in the parent that started it. */
  readonly call: string;
  readonly limits: TreeLimits;
}

/** What one ancestor allows: a call of a descendant needs its permission too. */
export interface Authority {
  readonly policy: Policy;
  readonly allowedTools: readonly string[];
  readonly mode: PermissionMode;
}

/** What a run may hand on to sub-agents, as its opening writes it into the store, beside what changes on the way. */
export interface StoredAuthority {
  readonly v: 1;
  /** `name@version` of the tools that it sees, by their names. */
  readonly tools: { readonly [name: string]: string };
  readonly policy: Policy;
  readonly allowedTools: readonly string[];
  readonly disallowedTools: readonly string[];
  readonly allowBypassPermissions: boolean;
  readonly requireProof: boolean;
  readonly hooks: readonly string[];
  readonly hookMatches?: HookMatches;
  /** Of its ancestors; the mode of the nearest may have changed since. */
  readonly within: readonly Authority[];
}

/** What a child gets from its parent at its opening: nothing of its own definition is wider. */
export interface Bounds {
  /** `name@version` of the tools that the parent sees. */
  readonly tools: readonly string[];
  readonly disallowedTools: readonly string[];
  /** Of the parent, and of its own ancestors. */
  readonly within: readonly Authority[];
  readonly allowBypassPermissions: boolean;
  readonly requireProof: boolean;
  /** Names of PreToolUse hooks that have a say in each call. */
  readonly hooks: readonly string[];
  readonly hookMatches?: HookMatches;
  readonly lineage: Lineage;
}
