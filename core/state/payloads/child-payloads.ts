/** Activities that prepare and close sub-agents: what goes in, and what comes out. */
import type { Json, StoredText } from '../../json/json.js';
import type { Handoff } from '../handoff.js';
import type { BudgetOverrides, StartInput } from '../task.js';
import type { PermissionMode } from '../permission-mode.js';
import type { StopReason } from '../result.js';
import type { Lineage, SubAgent } from '../sub-agent.js';
import type { ToolResultCode } from '../tool-result.js';
import type { Usage } from '../model.js';
import type { Acknowledged, EventBatch, NeedsCode, RunRef } from './payload.js';

/** Writes the row of a sub-agent, within the limits of its tree, and says with what it is to be started. */
export interface PrepareChildInput extends EventBatch, NeedsCode {
  readonly v: 1;
  readonly run: RunRef;
  /** Its run id, and which of the parent's it is. */
  readonly child: string;
  readonly n: number;
  /** Name by which the model knows it. */
  readonly name: string;
  readonly agent: SubAgent;
  readonly call: {
    readonly tool: string;
    readonly toolVersion: string;
    readonly args: Json;
    readonly digest: string;
    /** As the model named it. */
    readonly id: string;
  };
  /** Hash of what the parent may hand on, and its mode now. */
  readonly authority: string;
  readonly mode: PermissionMode;
  readonly lineage: Lineage;
  /** What is reserved for it. */
  readonly slice: BudgetOverrides;
  readonly caller?: string;
}

/** Why a sub-agent is not started. */
export type ChildRefusal =
  /** Its id is that of somebody else's run. */
  | 'child_id_taken'
  /** Its id is that of an earlier sub-agent of the same parent, with another task. */
  | 'passed'
  /** As many are open in the tree as may be. */
  | 'crowded'
  /** The tree has had as many as it may ever have. */
  | 'used_up'
  /** Its task cannot be made of these arguments. */
  | 'invalid_arguments';

export interface PrepareChildOutput extends Acknowledged {
  /** The argument of its workflow: its task lies in the store. */
  readonly start?: StartInput;
  readonly refused?: {
    readonly why: ChildRefusal;
    readonly message: string;
    /** With 'passed': what the earlier one cost, which nothing since the reset has counted; micro-USD. */
    readonly costMicroUsd?: number;
  };
  /** It began before a reset of its parent: it is read, not run. */
  readonly begun?: true;
}

/** Reads the outcome of a sub-agent, and seals its row with it. */
export interface CloseChildInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  readonly child: string;
  readonly name: string;
  /** No outcome will be waited for: without one the sub-agent is lost. */
  readonly last: boolean;
  /** Most that it may have cost, micro-USD; null: nothing is named. */
  readonly sliceMicroUsd: number | null;
  /** A result up to this size may come back inline. */
  readonly inlineBytesMax: number;
  /** JSON Schema that its answer must fit, as JSON text. */
  readonly outputSchema?: StoredText;
}

export interface ChildEnd {
  readonly stopReason: StopReason;
  readonly detail?: string;
  /** Of its answer, or of why there is none; data from outside for the parent. */
  readonly content: StoredText;
  /** Absent: it answered. */
  readonly code?: ToolResultCode;
  readonly costMicroUsd: number;
  readonly usage: Usage;
  readonly activeMs: number;
  /** Nobody knows how it ended: its whole slice is billed. */
  readonly unconfirmed?: true;
}

export interface CloseChildOutput extends Acknowledged {
  /** Absent: it goes on. */
  readonly end?: ChildEnd;
  /** It waits for people or for a time alone. */
  readonly waiting?: boolean;
}

/** Writes the row of the run that takes a task over, and says with what that run is to be started. */
export interface PrepareHandoffInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  /** Run id of the other run, and its number among those of this one. */
  readonly child: string;
  readonly n: number;
  readonly handoff: Pick<Handoff, 'callId' | 'from' | 'to' | 'filter' | 'args'>;
  /** Handoffs of the task so far, this one among them. */
  readonly handoffs: number;
  /** Newest message of the conversation so far. */
  readonly head: string;
  /** Of the run that hands over, as it was started, with what is left of its budgets. */
  readonly start: StartInput;
  /** JSON Schema of the answer, as JSON text; the start of a run under way has it no more. */
  readonly outputSchema?: StoredText;
  /** The id was in use when the run was started: whose it is must be looked at. */
  readonly existed?: true;
}

export interface PrepareHandoffOutput extends Acknowledged {
  /** The argument of its workflow: its task lies in the store. */
  readonly start?: StartInput;
  /** Its number is that of somebody else's run, or of an earlier one of this run, which was told to stop. */
  readonly taken?: {
    /** What the earlier one cost, which nothing since the reset has counted; micro-USD. */
    readonly costMicroUsd: number;
  };
  /** It is there. */
  readonly begun?: true;
}
