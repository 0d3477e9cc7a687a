/**
 * Saying something to a goal.
 * Invariants: what is signed is what the goal reads: the message after it has been parsed; it is sent as an Update, whose
 * answer says whether it counts, and as a signal when no worker can answer now; by its id it counts once.
 */
import { randomUUID } from 'node:crypto';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import { HoldfastError, type ErrorCode } from '../../core/state/errors.js';
import type {
  GoalMessage,
  MessageBody,
  MessageRefusal,
  MessageVerdict,
} from '../../core/state/goal/message.js';
import * as messages from '../../workflows/messages.js';
import { objectionToKey } from '../decide/key-standing.js';
import { bounded, workerLimitOf, type Link } from '../link.js';
import { STORE_AWAY, unlessStoreAway } from '../store-away.js';
import { checkedGoalMessage } from './goal-message.js';

/** Who says it. */
export interface Speaker {
  /** Default 'unknown': a goal that requires proof takes nothing from there. */
  readonly by?: string;
  readonly roles?: readonly string[];
  /** Names this message: the same one sent again counts once. Default: a new name. */
  readonly id?: string;
}

export interface Saying {
  readonly goalId: string;
  readonly said: MessageBody;
  readonly who?: Speaker;
}

/** How a message got to its goal. After a signal nobody knows yet whether it counts. */
export type Told =
  | { readonly delivered: 'update'; readonly id: string; readonly message?: string }
  | { readonly delivered: 'signal'; readonly id: string };

/** Errors: InvalidTask, StalePlan, MessageRefused with the goal's reason, RunNotFound. */
export async function tellGoal(link: Link, { goalId, said, who = {} }: Saying): Promise<Told> {
  const { by = 'unknown', roles = [], id = randomUUID() } = who;
  const message = await signed(
    link,
    goalId,
    checkedGoalMessage({ v: 1, id, by, roles, at: Date.now(), ...said }),
  );
  try {
    const bound = { runId: goalId, limitMs: workerLimitOf(link), needsWorker: true };
    const verdict = await bounded(link, bound, () => update(link, goalId, message));
    if (!verdict.accepted) throw refused(verdict, goalId);
    const more = verdict.message !== undefined && { message: verdict.message };
    return { delivered: 'update', id, ...more };
  } catch (error) {
    if (hasEnded(error)) throw goalEnded(goalId);
    if (isUnknown(error)) throw noSuchGoal(goalId);
    if (!isSilence(error)) throw error;
  }
  // The goal may get both in the end; by its id it counts once.
  await bounded(link, { runId: goalId }, () =>
    link.temporal.workflow.getHandle(goalId).signal(messages.goalMessage, message),
  ).catch((error: unknown) => {
    throw hasEnded(error) ? goalEnded(goalId) : error;
  });
  return { delivered: 'signal', id };
}

export function isUnknown(error: unknown): boolean {
  return error instanceof HoldfastError && error.code === 'RunNotFound';
}

export function noSuchGoal(goalId: string): HoldfastError {
  return new HoldfastError('RunNotFound', `There is no goal ${goalId}.`, {
    hint: 'List the goals with `holdfast goal list`.',
    details: { goalId },
  });
}

/** A key that was revoked signs nothing. */
async function signed(link: Link, goalId: string, message: GoalMessage): Promise<GoalMessage> {
  const { signer, store, tenant } = link;
  if (signer === undefined) return message;
  const objection =
    store === undefined
      ? undefined
      : await unlessStoreAway(store, (calls) => objectionToKey(calls, tenant, signer.key));
  if (objection !== undefined && objection !== STORE_AWAY && objection.reason === 'key_revoked') {
    throw new HoldfastError('MessageRefused', `The message does not count: ${objection.message}.`, {
      hint: objection.hint,
      details: { reason: objection.reason, runId: goalId },
    });
  }
  return signer.signGoalMessage({ tenant, goalId }, message);
}

async function update(link: Link, goalId: string, message: GoalMessage): Promise<MessageVerdict> {
  try {
    return await link.temporal.workflow.getHandle(goalId).executeUpdate(messages.tellGoal, {
      // The goal knows its messages by their ids. The Update has a name of its own: a refusal that passes would be its answer for good.
      args: [message],
    });
  } catch (error) {
    if (!(error instanceof WorkflowUpdateFailedError)) throw error;
    if (error.cause instanceof CancelledFailure)
      return { accepted: false, reason: 'goal_ended', message: 'it is ending' };
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    return { accepted: false, reason: 'malformed', message: reason };
  }
}

function refused(
  { reason, message }: Extract<MessageVerdict, { accepted: false }>,
  goalId: string,
): HoldfastError {
  const code: ErrorCode = reason === 'stale_plan' ? 'StalePlan' : 'MessageRefused';
  return new HoldfastError(code, `The goal takes no such message: ${message.replace(/\.$/, '')}.`, {
    hint: (HINTS[reason] ?? 'See the goal with `holdfast goal show ID`.').replaceAll(
      'ID',
      () => goalId,
    ),
    details: { reason, runId: goalId },
  });
}

function goalEnded(goalId: string): HoldfastError {
  return refused({ accepted: false, reason: 'goal_ended', message: 'it has ended' }, goalId);
}

/** With ID in place of the goal's. */
const HINTS: { readonly [reason in MessageRefusal]: string } = {
  malformed: 'Correct the message and send it again.',
  unproven: 'Say it at the approval desk (`holdfast console`), which signs what you say.',
  unknown_key: 'Say it again in a moment: the goal is being told of the new key.',
  busy: 'Too much came at once; say it again in a moment.',
  goal_ended:
    'See how it ended with `holdfast goal show ID`; `holdfast goal restart ID` goes on with it.',
  role_missing: 'Let somebody say it who has one of the roles that the goal names.',
  own_request: 'Let another person say it; nobody decides on their own goal.',
  stale_plan: 'Look at the plan again (`holdfast goal plan ID`), and change that one.',
  too_many: 'Wait until a cycle has read what was said before.',
  beyond_limits: 'Stay within what the goal names as possible.',
  not_applicable: 'See what the goal is doing with `holdfast goal show ID`.',
};

function isSilence(error: unknown): boolean {
  return error instanceof HoldfastError && error.details?.worker === false;
}

function hasEnded(error: unknown): boolean {
  return error instanceof HoldfastError && error.details?.ended === true;
}
