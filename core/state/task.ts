/** What a caller hands to a run: the task and what it overrides of the agent. Plain JSON. */
import type { Budget } from './budget-fields.js';
import type { Attachment } from './attachment.js';
import type { Condition } from '../json/condition.js';
import type { Json } from '../json/json.js';
import type { SessionStart } from './session.js';
import type { Settings } from './settings.js';
import type { StartedAgents } from './started-agent.js';

export interface Task {
  /** What the run is to achieve; becomes the first user message. Must not be blank (G67). */
  readonly goal: string;
  /** Pictures, documents and sounds beside the goal, as `attach` of a client gives them. */
  readonly attachments?: readonly Attachment[];
  /** Prefix of idempotency keys, unique per tenant and run; default: the run id. */
  readonly taskId?: string;
  readonly traceId?: string;
  /** Who asks; never counts as an approver of this run's asks. */
  readonly caller?: string;
  /** Statements that bound the work; shown to the model below the goal. */
  readonly constraints?: readonly string[];
  /** Narrows the visible tools (C48). */
  readonly allowedActions?: readonly string[];
  /** Hidden, and refused with the run when proposed anyway (C9, C48). */
  readonly forbiddenActions?: readonly string[];
  /** A reason: the safety policy refuses the whole task (S38). */
  readonly denied?: string;
  /** What must have been observed before an answer counts (G22). */
  readonly requiredEvidence?: readonly Evidence[];
  /** What must hold of an answer and of what led to it (G23). */
  readonly successCriteria?: readonly Criterion[];
  /** Reasons of the caller's own domain that a result may give as its `detail`. */
  readonly stopReasons?: readonly string[];
  /** JSON Schema of the answer, which is then JSON (C33). */
  readonly outputSchema?: { readonly [key: string]: Json };
  readonly metadata?: { readonly [key: string]: Json };
}

export interface Evidence {
  readonly id: string;
  /** Name of a tool that must have returned ok, or `state.<path>` that must hold something. */
  readonly satisfiedBy: string;
  /** On the observation: the JSON that the tool returned, or what the path holds. */
  readonly predicate?: Condition;
}

export interface Criterion {
  readonly id: string;
  /** Said to the model and to people when it is not met. */
  readonly description?: string;
  /** `path` begins with output, answer, evidence, tools or state (gates/criteria.ts). */
  readonly when: Condition;
}

export type BudgetOverrides = Partial<Budget>;
export type SettingsOverrides = Partial<Settings>;

/** The argument of the workflow `agentRun`. Optional fields have defaults; unknown ones are ignored. */
export interface StartInput {
  readonly v: 1;
  /** The agent's name; its definition lives in the worker. */
  readonly agent: string;
  readonly task: Task;
  /** Route in place of the agent's own model. */
  readonly model?: string;
  readonly tenant?: string;
  readonly budget?: BudgetOverrides;
  readonly settings?: SettingsOverrides;
  /** Sub-agents beside those that the agent declares, by the name that its model uses. */
  readonly agents?: StartedAgents;
  readonly session?: SessionStart;
  /** Id of the starter's store: the run is opened with this one alone (G116). */
  readonly store?: string;
  /** Of a fork: the recorded run and the state after a step of it, which lies in the store under the id of the fork. */
  readonly fork?: ForkRef;
  /** Whose child the run is: its task lies in the store, under its own id. */
  readonly parent?: ParentRef;
}

export interface ForkRef {
  /** The recorded run. */
  readonly id: string;
  readonly step: number;
  /** Of the state, as it lies in the store. */
  readonly digest: string;
}

/** 'goal': the run is a cycle; 'run': it is a sub-agent; 'handoff': it goes on with the task of a run that ends. */
export interface ParentRef {
  readonly kind: 'goal' | 'run' | 'handoff';
  readonly id: string;
  /** Number of the cycle, or of the run among those of its kind that its parent started. */
  readonly n: number;
  /** Of the start, as it was registered in the store. */
  readonly digest: string;
  /** Temporal tells the parent of its end: it says nothing itself unless it is told to. */
  readonly hears?: true;
  /** The run asks its parent for more money when its own is used up. */
  readonly asks?: true;
}

/** What an observation must hold to prove a piece of evidence. */
export interface Proof {
  readonly id: string;
  readonly when: Condition;
}
