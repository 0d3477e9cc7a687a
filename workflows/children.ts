/**
 * What a run says to the workflows of its tree, and how it hears of them.
 * Invariant: a child is started once under its id; a workflow that is gone hears nothing, and that is an input where the
 * run waits for its word.
 */
import {
  ApplicationFailure,
  ChildWorkflowFailure,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  startChild,
  TerminatedFailure,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { Effect, TellChild, TellParent } from '../core/state/effect.js';
import { failureOf } from '../core/state/failure.js';
import type { ChildWord, EffectInput } from '../core/state/input.js';
import type { Inbox } from './inbox.js';
import * as messages from './messages.js';
import { isUndecodable } from './payload-converter.js';
import { rawFailure } from './raw-failure.js';
import type { Report } from './report.js';
import { attributesOf } from './showing.js';

/** Hears of effects, and of the workflows of children. */
export type Told = Pick<Inbox<EffectInput | ChildWord>, 'put'>;

interface ChildBegun {
  readonly existed: boolean;
}

type StartChild = Extract<Effect, { kind: 'start_child' }>;

/**
 * Resolves when the child is there: only then it outlives an execution that ends. Where its id is in use, the row in the
 * store and Temporal say whether it is the same child, which ran before, or a stranger's run.
 */
export async function begin(
  { child, input, hears, shows }: StartChild,
  { queue, inbox }: { readonly queue: string; readonly inbox: Told },
): Promise<ChildBegun> {
  try {
    const handle = await startChild(messages.AGENT_RUN, {
      workflowId: child,
      taskQueue: queue,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: 'ABANDON',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      args: [input],
      ...(shows !== undefined && { typedSearchAttributes: attributesOf(shows) }),
    });
    if (hears) hear(child, { result: handle.result(), inbox });
    return { existed: false };
  } catch (error) {
    if (!isAlreadyStarted(error)) throw error;
    return { existed: true };
  }
}

interface Hearing {
  readonly result: Promise<unknown>;
  readonly inbox: Told;
}

/** Terminated or out of time: those below it may still go on, and it is looked at when its time has come. */
function isLost(error: unknown): boolean {
  const cause = error instanceof ChildWorkflowFailure ? error.cause : undefined;
  return cause instanceof TerminatedFailure || cause instanceof TimeoutFailure;
}

/** What it returned, or that it returned nothing. */
function hear(child: string, { result, inbox }: Hearing): void {
  const ended = (said: { readonly result?: unknown }): void =>
    inbox.put({ type: 'child_done', child, ...said, at: Date.now() });
  void result.then(
    (value) => ended(isUndecodable(value) ? {} : { result: value }),
    (error: unknown) => {
      if (!isLost(error)) ended({});
    },
  );
}

function isAlreadyStarted(error: unknown): boolean {
  return error instanceof Error && error.name === 'WorkflowExecutionAlreadyStartedError';
}

export function childReport(id: string): Report<ChildBegun> {
  return {
    done: ({ existed }) => ({
      type: 'child_started',
      id,
      ...(existed && { existed }),
      at: Date.now(),
    }),
    failed(error) {
      const failure = failureOf(rawFailure(error), { attemptMs: 0 });
      return { type: 'effect_failed', id, failure, at: Date.now() };
    },
  };
}

function said(effect: TellChild): Promise<void> {
  const handle = getExternalWorkflowHandle(effect.child);
  switch (effect.message) {
    case 'cancel':
      return handle.cancel();
    case 'interrupt':
      return handle.signal(messages.interrupt);
    case 'report':
      return handle.signal(messages.tellEnd);
    case 'money':
      return handle.signal(messages.moneyAnswer, { n: effect.n, amount: effect.amount });
    case 'modes':
      return handle.signal(messages.modesAbove, effect.modes);
    case 'say':
      return handle.signal(messages.userMessage, { text: effect.text, id: effect.id });
  }
}

/** A child that is gone hears nothing, and its row says how it ended. */
export function tell(effect: TellChild, inbox: Told): void {
  const { child, message } = effect;
  said(effect).catch((error: unknown) => {
    if (!isGone(error)) throw error;
    if (message === 'report') inbox.put({ type: 'child_ended', child, at: Date.now() });
  });
}

/** A parent that is gone gives nothing. */
export function askParent({ parent, child, n, amount }: TellParent, inbox: Told): void {
  getExternalWorkflowHandle(parent)
    .signal(messages.wantsMoney, { child, n, amount })
    .catch((error: unknown) => {
      if (!isGone(error)) throw error;
      inbox.put({ type: 'money_answered', child, n, amount: 0, at: Date.now() });
    });
}

/** The workflow that something was said to has ended, or never was. */
export function isGone(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === 'ExternalWorkflowExecutionNotFound';
}
