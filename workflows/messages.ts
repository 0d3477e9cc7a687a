/**
 * The messages of the workflows `agentRun` and `goalRun`: their names, task queue, signals, Updates and queries.
 * Safe to import by value from a client: plain definitions, no workflow code.
 */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Attachment } from '../core/state/attachment.js';
import type { Decision, Verdict } from '../core/state/ask.js';
import type { RunEvent } from '../core/state/event.js';
import type { GoalMessage, MessageVerdict } from '../core/state/goal/message.js';
import type { GoalView } from '../core/state/goal/view.js';
import type { Json } from '../core/json/json.js';
import type { MoneyAnswer, WantedFromBelow } from '../core/messages/parse-message.js';
import type { PermissionMode } from '../core/state/permission-mode.js';
import type { OpenAsk, Question, RunView } from '../core/state/view.js';

export const AGENT_RUN = 'agentRun';
export const GOAL_RUN = 'goalRun';
export const TASK_QUEUE = 'holdfast';

export interface ProvidedInput {
  readonly askId: string;
  readonly value: Json;
  readonly by: string;
  /** Of whoever answers; absent: none. */
  readonly roles?: readonly string[];
}

export interface UserMessage {
  readonly text: string;
  /** Idempotency id: a message whose id was seen before is ignored. */
  readonly id?: string;
  /** Their bytes lie in the store already. */
  readonly attachments?: readonly Attachment[];
}

/** A decision on an open ask; fire and forget. */
export const resolveApproval = defineSignal<[Decision]>('resolveApproval');
/** The answer to a clarifying question. */
export const provideInput = defineSignal<[ProvidedInput]>('provideInput');
/** A follow-up message of the user; enters the transcript at the next boundary (G74). */
export const userMessage = defineSignal<[UserMessage]>('userMessage');
/** From the next permission decision on; pending questions are looked at again (G14, G16). */
export const setPermissionMode = defineSignal<[PermissionMode]>('setPermissionMode');
/** Stops the run with `interrupted`. */
export const interrupt = defineSignal('interrupt');
/** Ends a conversation that waits for its user; otherwise cancels the run. */
export const close = defineSignal('close');
/** Begins a new segment at the next boundary, as a full history does: for a run that is to go on under newer rules. */
export const nextSegment = defineSignal('nextSegment');

/** A hint that letters of other runs lie in the store. */
export const mail = defineSignal('mail');

/** Another model for the next request, by its route's name. A name that no worker knows changes nothing. */
export const setModel = defineSignal<[string]>('setModel');
/** How much the model may think from the next request on: 0 for not at all, null for its own default. */
export const setMaxThinkingTokens = defineSignal<[number | null]>('setMaxThinkingTokens');

/** Like `resolveApproval`, and says whether the decision was accepted or why not. Needs a live worker. */
export const decide = defineUpdate<Verdict, [Decision]>('decide');

/** What a person says to a goal; fire and forget. One whose id was seen before is ignored. */
export const goalMessage = defineSignal<[GoalMessage]>('goalMessage');
/** Like `goalMessage`, and says whether it was accepted or why not. Needs a live worker. */
export const tellGoal = defineUpdate<MessageVerdict, [GoalMessage]>('tellGoal');
/** A cycle of a goal, or a sub-agent of a run, has ended: its run id. A hint: the outcome is in the store. */
export const childEnded = defineSignal<[string]>('childEnded');

/** To a sub-agent, from its parent: the permission modes above it, the nearest first. */
export const modesAbove = defineSignal<[readonly PermissionMode[]]>('modesAbove');

/** To a sub-agent, from its parent, which began another segment: say by `childEnded` when you have ended. */
export const tellEnd = defineSignal('tellEnd');

/** From a sub-agent that has used up its money to its parent: how much more it asks for, in micro-USD. */
export const wantsMoney = defineSignal<[WantedFromBelow]>('wantsMoney');
/** From the parent to that sub-agent: how much more it gets, 0 for nothing. */
export const moneyAnswer = defineSignal<[MoneyAnswer]>('moneyAnswer');

export const state = defineQuery<RunView>('state');
/** Of a goal, under the same name. */
export const goalState = defineQuery<GoalView>('state');
/** One question by its id, open or closed; null: the run has not asked it. */
export const question = defineQuery<Question | null, [string]>('question');
export const pendingApprovals = defineQuery<readonly OpenAsk[]>('pendingApprovals');
/** Events that the run still holds, from `since` on; older ones are in the store. */
export const events = defineQuery<readonly RunEvent[], [number]>('events');
