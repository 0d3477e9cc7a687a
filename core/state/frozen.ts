/**
 * What is fixed at a run's start by its first activity and lies in history: a later deployment never
 * changes a run under way; only its limits can be raised, by a person (G91). References and hashes instead of texts, so that it stays small.
 */
import type { Budget } from './budget-fields.js';
import type { HandedFrom, HandoffTarget } from './handoff.js';
import type { HookMatches, HookNames } from './hook.js';
import type { StoredText } from '../json/json.js';
import type { ModelRoute } from './model.js';
import type { Policy } from './policy.js';
import type { Settings } from './settings.js';
import type { Authority, Lineage, SubAgents, TreeLimits } from './sub-agent.js';
import type { SupervisorTerms } from './supervision.js';
import type { ToolRecord } from './tool.js';

export interface Frozen {
  readonly agent: { readonly name: string; readonly version: string };
  readonly route: ModelRoute;
  /** Takes over when the route's retries are used up (G32). */
  readonly fallback?: ModelRoute;
  /** The root node: system prompt and offered tools, and its size for the bound of the first request. */
  readonly prompt: { readonly hash: string; readonly bytes: number };
  readonly tools: readonly ToolRecord[];
  readonly policy: Policy;
  /** Task queue of calls in a sandbox whose tools name none; absent: they stay on the run's own (G18). */
  readonly sandboxQueue?: string;
  /** Names of the hooks registered for this agent, by point. */
  readonly hooks: HookNames;
  /** Absent: each hook is asked about every call. */
  readonly hookMatches?: HookMatches;
  /** JSON Schema of the answer, as JSON text (C33). */
  readonly outputSchema?: StoredText;
  /** To whom the agent may hand the run over; absent: to nobody. */
  readonly handoffTo?: readonly HandoffTarget[];
  /** Another run had the task before; absent: none. */
  readonly handedFrom?: HandedFrom;
  readonly budget: Budget;
  readonly settings: Settings;
  /** Sub-agents that it may start; absent: none. */
  readonly agents?: SubAgents;
  /** Who looks at the run from time to time; absent: nobody. */
  readonly supervisor?: SupervisorTerms;
  /** With `agents`: hash of the text in the store that says what it may hand on (`StoredAuthority`). */
  readonly authority?: string;
  /** With `agents`: of the tree that it is the root of, or stands in. */
  readonly treeLimits?: TreeLimits;
  /** Of a sub-agent: where it stands. */
  readonly lineage?: Lineage;
  /** Of a sub-agent: what its ancestors allow, the nearest first; each call needs the word of all. */
  readonly within?: readonly Authority[];
  /** Versions of prompt, tools, policy, route, prices, code (G60). */
  readonly versions: { readonly [name: string]: string };
}
