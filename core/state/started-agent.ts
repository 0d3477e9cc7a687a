/** Sub-agents that a start brings along, beside those that its agent declares. */
import type { Json } from '../json/json.js';
import type { Budget, Limit } from './budget-fields.js';

/** A sub-agent that a start brings along: a role of the agent that is started, with less than that agent has. */
export interface StartedAgent {
  /** For the model: what it is for, and when to use it. */
  readonly description: string;
  /** Its instructions. */
  readonly prompt: string;
  /** Names of the tools that it is left with; absent: all of the agent. */
  readonly tools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  /** Absent or `inherit`: that of the agent. */
  readonly model?: string;
  readonly maxTurns?: Limit;
  /** Named money is reserved in full or it is not started. */
  readonly budget?: Partial<Budget>;
  /** JSON Schema of its answer. */
  readonly outputSchema?: { readonly [key: string]: Json };
}

/** All of one start, as JSON: they go along with the run. */
export const STARTED_AGENTS_CHARS_MAX = 32_768;

export type StartedAgents = { readonly [name: string]: StartedAgent };
