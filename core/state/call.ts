/**
 * One tool call by stage: proposed → checked (→ hooking → hooked → checked) → granted → executing → settled.
 * Invariants: a stage is left only forwards; `executing` is reached only from `granted`; a settled call
 * has exactly one result, and no other stage has one.
 */
import type { Vote } from './ask.js';
import type { Outlook } from '../controls/outlook.js';
import type { Repeats } from '../controls/repeats.js';
import type { CheckCallOutput, Grant, ToolOutcome } from './effect.js';
import type { AnsweredExchange } from './elicitation.js';
import type { Finding } from './recovery.js';
import type { Failure } from './failure.js';
import type { CallOpinion } from './hook.js';
import type { Json, StoredText } from '../json/json.js';
import type { CallCheck } from './model.js';
import type { PermissionMode } from './permission-mode.js';
import type { ToolResult } from './tool-result.js';
import type { Flow } from './dataflow.js';

export interface CallBase {
  /** Provider's id, unique within the reply. */
  readonly id: string;
  readonly index: number;
  /** `step`, or `step:index` when the reply has several calls (C28). */
  readonly callKey: string;
  /** Raised when the key turns out to be taken by other arguments (G97). */
  readonly revision: number;
  readonly tool: string;
  readonly toolVersion: string;
  readonly args: Json;
  readonly digest: string;
  /** Ledger attempt, from 1; raised by "did not happen", and by a repetition with the same key. */
  readonly attempt: number;
  /** An earlier attempt may have taken effect, and this one repeats it with its key (G117). */
  readonly inDoubt?: true;
  /** It was given to an executor before, and counted as a tool call then. */
  readonly handedOver?: true;
  /** People wanted something else than the model proposed (G9). */
  readonly corrected?: CallCorrection;
  /** Attempts that executors have made of it so far, over all its executions (C43). */
  readonly attempts: number;
  /** What its executions have cost so far, in micro-USD; absent: nothing. */
  readonly costMicroUsd?: number;
  /** Dataflow: what it says about other calls (G1). */
  readonly flow?: Flow;
  /** People were asked so often whether it may be done again; absent: never. */
  readonly repeatAsks?: number;
  /** So many words on its outcome proved nothing in the end; absent: none. */
  readonly unprovenWords?: number;
  /** Its tool is served with another schema since its arguments were checked, or agreed to (G110). */
  readonly outdated?: true;
  /** Nobody worked on the queue of its tool: the ledger alone says what became of it (G118). */
  readonly unserved?: true;
  /** Run id of the sub-agent that works on it, or did. */
  readonly child?: string;
  /** Numbers of sub-agents that were tried for it and that earlier ones have; absent: none. */
  readonly passed?: number;
  /** What the business controls said of these arguments when they were checked. */
  readonly outlook?: Outlook;
  /** Questions of its tool's server that were put to people so far; absent: none. */
  readonly elicited?: number;
  /** What the newest of them was answered with. */
  readonly answered?: AnsweredExchange;
  /** A quick attempt gave no answer; the next execution is an ordinary one. */
  readonly elsewhere?: TriedQuickly;
}

export interface TriedQuickly {
  /** When the quick attempt was started, ms since epoch. */
  readonly startedAt: number;
  /** The tool failed in it: one of its failures that are retried. */
  readonly failed?: true;
}

export interface CallCorrection {
  /** Compared with what the model proposed. */
  readonly kind: 'modified' | 'replaced';
  readonly by: string;
  readonly times: number;
}

export interface ProposedStage extends CallBase {
  readonly stage: 'proposed';
  readonly check: CallCheck;
}
/** Exists and its arguments are valid. */
export interface CheckedStage extends CallBase {
  readonly stage: 'checked';
  /** Its PreToolUse hooks have had their say; `ask`: one of them wants a person's word. */
  readonly hooked?: Pick<CallOpinion, 'ask'>;
}
/** Its PreToolUse hooks are being asked. */
export interface HookingStage extends CallBase {
  readonly stage: 'hooking';
}
export interface HookedStage extends CallBase {
  readonly stage: 'hooked';
  readonly opinion: CallOpinion;
}
/** The question whether a call may run, open or about to be. */
export interface Question {
  readonly askId: string;
  /** The permission mode under which it was found to need one. */
  readonly mode: PermissionMode;
  /** A hook wants a person's word on it, whatever the mode says. */
  readonly hooked?: Pick<CallOpinion, 'ask'>;
  /** Approved, it runs in its sandbox. */
  readonly sandbox?: true;
  /** It is asked about because of these. */
  readonly repeats?: Repeats;
}
/** Policy wants a person's word. */
export interface WaitingStage extends CallBase, Question {
  readonly stage: 'waiting';
  /** Approvals that it brings along: whoever corrects a call agrees to what they made of it (G81). */
  readonly votes?: readonly Vote[];
  /** It takes the place of a question that others may decide from then on; ms since epoch. */
  readonly escalatesAt?: number;
  /** Modes above the run, joined, under which its permission was decided (toldBelow); absent: those of the start. */
  readonly above?: string;
}
export interface GrantedStage extends CallBase {
  readonly stage: 'granted';
  readonly grant: Grant;
}
/**
 * Of a call that a fork takes over: the newest attempt of it is one of the recorded run, under this key. Every stage that
 * leads to an attempt of the fork itself lacks the field.
 */
export interface OfParent {
  readonly parentKey?: string;
}
export interface ExecutingStage extends CallBase, OfParent {
  readonly stage: 'executing';
  readonly grant: Grant;
  readonly effectId: string;
  readonly doing: 'execute' | 'reconcile' | 'record';
  readonly startedAt: number;
  /** Only the run's remaining time limits it. */
  readonly boundByRun: boolean;
  /** With 'record': the person's answer. */
  readonly answer?: { readonly kind: 'happened' | 'not_happened'; readonly content: StoredText };
}
/** A sub-agent works on it (run-child.ts). */
export interface DelegatedStage extends CallBase {
  readonly stage: 'delegated';
  readonly grant: Grant;
  readonly startedAt: number;
}
/** An effect of it came back; `settle` decides what that means. */
export interface ReturnedStage extends CallBase, OfParent {
  readonly stage: 'returned';
  readonly grant: Grant;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly fact: CallFact;
}
/** Nobody here knows whether it happened; a person is asked (G82). */
export interface DoubtStage extends CallBase, OfParent {
  readonly stage: 'doubt';
  readonly grant: Grant;
  readonly askId: string;
  readonly startedAt: number;
}
/** A question that the model asks a person; its answer is the result (G15). Nothing is executed. */
export interface AskingStage extends CallBase {
  readonly stage: 'asking';
  readonly askId: string;
  readonly askedAt: number;
  /** The server of its tool asks, not the model: the answer goes to the server, and the call on. */
  readonly exchange?: StoredText;
  readonly grant?: Grant;
}
export interface SettledStage extends CallBase {
  readonly stage: 'settled';
  readonly result: ToolResult;
  /** Its PostToolUse or PostToolUseFailure hooks. */
  readonly after?: 'running' | 'done';
}

/** Changed arguments of it are with `check_call`. */
export interface CheckingStage extends CallBase {
  readonly stage: 'checking';
  readonly effectId: string;
  readonly asker: Asker;
  readonly target: CheckTarget;
}
/** They are back; `recheck` decides what that means for whoever asked. */
export interface RecheckedStage extends CallBase {
  readonly stage: 'rechecked';
  readonly asker: Asker;
  readonly target: CheckTarget;
  readonly answer: CheckAnswer;
}

/** Why arguments are checked once more. */
export type Asker =
  | { readonly kind: 'dataflow' }
  /** Nobody with the tool's code has looked at them; `anew`: with another schema than before (G110). */
  | { readonly kind: 'code'; readonly anew?: true }
  | { readonly kind: 'hook'; readonly ask?: CallOpinion['ask'] }
  /** The question stays open meanwhile, as it was under this mode. */
  | ({ readonly kind: 'correction' } & Question);

/** The tool that the changed arguments are for; a correction may name another one. */
export interface CheckTarget {
  readonly tool: string;
  readonly toolVersion: string;
}

export type CheckAnswer =
  | { readonly ok: true; readonly output: Omit<CheckCallOutput, 'eventsUpTo'> }
  | { readonly ok: false; readonly failure: Failure };

export type CallFact =
  | { readonly kind: 'outcome'; readonly outcome: ToolOutcome }
  | { readonly kind: 'finding'; readonly finding: Finding }
  | {
      readonly kind: 'recorded';
      readonly answer: 'happened' | 'not_happened';
      readonly content: StoredText;
    }
  /** Nothing was recorded: what the person signed proves nothing any more. */
  | { readonly kind: 'unproven' }
  | {
      readonly kind: 'failure';
      readonly doing: 'execute' | 'reconcile' | 'record';
      readonly failure: Failure;
      /** The run's time was up, not the tool's own. */
      readonly outOfTime: boolean;
    };

export type Call =
  | ProposedStage
  | CheckingStage
  | RecheckedStage
  | CheckedStage
  | HookingStage
  | HookedStage
  | WaitingStage
  | GrantedStage
  | ExecutingStage
  | DelegatedStage
  | ReturnedStage
  | DoubtStage
  | AskingStage
  | SettledStage;
