/**
 * What people say to a goal takes effect: between a pass and the next start, or while a cycle is open.
 * Invariants: each message takes effect once, in the order of arrival, and its sender hears whether it counts; what a
 * person said is in the brief of exactly one cycle that got a reply (unread).
 */
import type { ActivityEffect } from '../state/effect.js';
import type { Failure } from '../state/failure.js';
import type { GoalMessage } from '../state/goal/message.js';
import { UNREAD_MAX } from '../state/goal/message.js';
import type { HeldMessage, OpenGoal, Steer } from '../state/goal/goal.js';
import type { TakeMessageOutput } from '../state/goal/payloads.js';
import type { Step } from '../state/run.js';
import type { Ruling } from '../step/advance.js';
import { flying, only, start } from '../step/inflight.js';
import { fitsBytes, jsonBytes, textFitsBytes, type Json } from '../json/json.js';
import { follows } from '../step/changes.js';
import { withFeedback, withoutProposed } from './answers.js';
import { planAdopted } from './plan-adopted.js';
import { end } from './ending.js';
import { GOAL_STORE_LIMITS, ofOpenGoal, tell } from './telling.js';
import { withdrawOvertaken } from './rest.js';
import { withdrawApproval } from './approvals.js';
import { wake } from './sleep.js';
import { accept, refuse } from './verdicts.js';
import { withReview, resume, untimed, woken, setBudget, setPace } from './controls.js';

/** Longer texts lie in the store; in bytes, before `messagesBound` in characters. */
const INLINE_MAX = 200;
/** Of words that wait, with the names of those who said them. */
const WORDS_BYTES_MAX = 16 * 1024;

/** Rule: the oldest message takes effect. */
export function heedMessage(goal: OpenGoal): Ruling<OpenGoal> {
  const [held] = goal.messages;
  if (held === undefined || !isTime(goal)) return undefined;
  if (held.effect !== undefined) return 'hold';
  const { message } = held;
  if (message.type === 'handoffGoal' && isMidCycle(goal)) return only(handOff(goal, held));
  if (needsStore(goal, message)) return takeMessage(goal, held);
  return heed(goal, held);
}

/** Of a full segment nothing starts, and a message may need the store. */
function isTime({ pass, cycle, segment }: OpenGoal): boolean {
  return pass === undefined && !segment.full && (cycle === undefined || cycle.stage === 'open');
}

function needsStore(goal: OpenGoal, message: GoalMessage): boolean {
  if (message.type === 'steer') {
    return follows(goal, 'messagesBound')
      ? !textFitsBytes(message.text, INLINE_MAX)
      : message.text.length > INLINE_MAX;
  }
  return message.type === 'setPlan' || message.type === 'handoffGoal';
}

function takeMessage(goal: OpenGoal, held: HeldMessage): Step<OpenGoal> {
  const id = `take_message-${goal.nextEffect}`;
  const messages = [{ ...held, effect: id }, ...goal.messages.slice(1)];
  return start({ ...goal, messages }, 'take_message', (_, events): ActivityEffect => ({
    kind: 'take_message',
    id,
    input: { ...ofOpenGoal(goal), message: held.message, events },
    limits: GOAL_STORE_LIMITS,
    summary: held.message.type,
  }));
}

/** Fact: its text is in the store, or its plan in the memory. */
export function messageTaken(
  goal: OpenGoal,
  effectId: string,
  output: TakeMessageOutput,
): OpenGoal {
  const [held] = goal.messages;
  if (held?.effect !== effectId) return goal;
  if (goal.ending !== undefined && follows(goal, 'handedOffAtRest'))
    return refuse(goal, held, { reason: 'goal_ended', message: 'the goal is ending' });
  const { refused, text, memory, plan } = output;
  if (refused !== undefined) return refuse(goal, held, refused);
  const { message } = held;
  if (message.type === 'steer' && text !== undefined) return steer(goal, held, { text });
  if (message.type === 'handoffGoal') return handOff(goal, held);
  if (memory === undefined || plan === undefined) return accept(goal, held);
  const adopted = planAdopted(goal, { memory, facts: plan, by: message.by });
  return accept({ ...withoutOvertaken(adopted, message.by), approvalStale: true }, held);
}

/** A person's plan takes the place of one that waits for people. */
function withoutOvertaken(goal: OpenGoal, by: string): OpenGoal {
  const { plan } = goal.proposed;
  if (plan === undefined) return goal;
  const words = `The change of the plan that ${plan.by} proposed was overtaken by the plan of ${by}`;
  return withFeedback(withoutProposed(goal, 'plan'), words);
}

/** The end of a cycle may leave an effect in doubt. */
function isMidCycle(goal: OpenGoal): boolean {
  return goal.cycle !== undefined && follows(goal, 'handedOffAtRest');
}

/** (g9) Never completed while a question is open or an effect in doubt. */
function handOff(goal: OpenGoal, held: HeldMessage): OpenGoal {
  if (isMidCycle(goal))
    return refuse(goal, held, {
      reason: 'not_applicable',
      message: 'a cycle is open; pause the goal, and hand it over when the cycle has ended',
    });
  if (goal.streaks.doubt > 0)
    return refuse(goal, held, {
      reason: 'not_applicable',
      message: 'an effect is in doubt; its question comes first',
    });
  const row = { row: 'handed_off', reason: 'completed', detail: 'handed_off' } as const;
  return accept(end(said(goal, held.message), row), held);
}

/** Instead of an effect that does not fit a payload. */
export function messageTooLarge(goal: OpenGoal): OpenGoal {
  const [held] = goal.messages;
  if (held === undefined) return goal;
  const bytes = jsonBytes(held.message);
  return refuse(goal, held, {
    reason: 'beyond_limits',
    message: `it has ${bytes} bytes, more than the goal can store at once; say it in parts`,
  });
}

export function messageNotTaken(goal: OpenGoal, effectId: string, failure: Failure): OpenGoal {
  const [held] = goal.messages;
  if (held?.effect !== effectId) return goal;
  return refuse(goal, held, { reason: 'malformed', message: failure.message });
}

function heed(goal: OpenGoal, held: HeldMessage): Step<OpenGoal> {
  const { message } = held;
  const control = said(goal, message);
  switch (message.type) {
    case 'pause':
      return only(accept({ ...control, paused: { by: message.by } }, held));
    case 'resume':
      return resume(control, held);
    case 'wake':
      return woken(control, held);
    case 'steer':
      return only(steer(goal, held, { text: { text: message.text } }));
    case 'review':
      return only(accept(withReview(control, message), held));
    case 'stop':
      return only(accept(end(control, { row: 'stop', reason: 'interrupted' }), held));
    case 'setBudget':
      return only(setBudget(goal, held));
    case 'setPace':
      return setPace(control, held, message);
    case 'handoffGoal':
      return only(handOff(goal, held));
    case 'cancel':
    case 'setPlan':
      // Never held: a cancel counts as it arrives (ofMessage), a plan goes by the store (needsStore).
      return only(accept(goal, held));
  }
}

/** They have events of their own, or are told when they are done. */
const UNTOLD: readonly GoalMessage['type'][] = ['steer', 'setBudget', 'setPlan'];

/** The event of whatever is no text. */
function said(goal: OpenGoal, message: GoalMessage): OpenGoal {
  if (UNTOLD.includes(message.type)) return goal;
  const [held] = goal.messages;
  const value = valueOf(message);
  return tell(goal, {
    type: 'goal_steered',
    by: message.by,
    proven: held?.proven ?? false,
    text: { text: '' },
    control: message.type,
    ...(value !== undefined && { value }),
  });
}

function valueOf(message: GoalMessage): Json | undefined {
  if (message.type === 'setPace') return message.pace as unknown as Json;
  if (message.type === 'handoffGoal') return message.goalId;
  if (message.type !== 'review' || message.objectiveValid === undefined) return undefined;
  return { objectiveValid: message.objectiveValid, because: message.because ?? '' };
}

function steer(
  goal: OpenGoal,
  held: HeldMessage,
  { text }: Pick<Required<TakeMessageOutput>, 'text'>,
): OpenGoal {
  const { message, proven } = held;
  const { id, by } = message;
  const said: Steer = { id, text, by, proven };
  const tooMany = wordsBeyond(goal, said);
  if (tooMany !== undefined) return refuse(goal, held, { reason: 'too_many', message: tooMany });
  const kept: OpenGoal = {
    ...goal,
    unread: [...goal.unread, said],
    steeredBy: [...new Set([...goal.steeredBy, by])].slice(-UNREAD_MAX),
    approvalStale: true,
    wakeKept: goal.wakeKept || (message.type === 'steer' && message.wake === true),
  };
  return accept(tell(kept, { type: 'goal_steered', by, proven, text }), held);
}

/** A cycle without a reply gives back what it was told. */
function wordsBeyond(goal: OpenGoal, said: Steer): string | undefined {
  const isBound = follows(goal, 'messagesBound');
  const waiting = isBound ? [...(goal.cycle?.reads ?? []), ...goal.unread] : goal.unread;
  if (waiting.length >= UNREAD_MAX) return `${UNREAD_MAX} messages are unread`;
  return !isBound || fitsBytes([...waiting, said], WORDS_BYTES_MAX)
    ? undefined
    : `more than ${WORDS_BYTES_MAX} bytes of messages are unread`;
}

/** What a person approved, or is asked to, was another cycle than the next one. */
function stale(goal: OpenGoal): Ruling<OpenGoal> {
  // A brief that is being written does not know of the change, either.
  if (goal.cycle === undefined && flying(goal, ['prepare_cycle'])) return undefined;
  const { approvalStale: _, ...rest } = goal;
  return withdrawApproval(rest, 'the next cycle has changed');
}

/** Rule: what was approved before a change is asked anew; a wake that came with it ends the sleep. */
export function afterChange(goal: OpenGoal): Ruling<OpenGoal> {
  if (goal.approvalStale) {
    const asking = stale(goal);
    if (asking !== undefined) return asking;
  }
  const overtaken = withdrawOvertaken(goal);
  if (overtaken !== undefined) return overtaken;
  const { sleep, paused, wakeKept } = goal;
  if (!wakeKept || sleep === undefined || sleep.over || paused !== undefined) return undefined;
  if (sleep.asking !== undefined || sleep.found) return undefined;
  const by = goal.steeredBy.at(-1) ?? 'wake';
  return untimed(wake({ ...goal, wakeKept: false }, by), goal);
}
