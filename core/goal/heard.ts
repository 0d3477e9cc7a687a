/**
 * What people say, as it arrives: proven or not, seen before or not, in time or too late.
 * Invariant: total and bounded; nothing of it takes effect here.
 */
import type { Decision, Verdict } from '../state/ask.js';
import type { GoalMessage, MessageVerdict } from '../state/goal/message.js';
import { type Goal, type HeldMessage, type Unjudged } from '../state/goal/goal.js';
import { UNPROCESSED_MAX } from '../state/run.js';
import { digestOf, jsonBytes } from '../json/json.js';
import { follows } from '../step/changes.js';
import { isDatedAhead } from '../step/clock.js';
import { recordVote, refused } from './asks.js';
import { answered as tellVerdict, RECEIVED } from './verdicts.js';
import { judgeDecision, judgeMessage } from './proof.js';
import { warnOf } from './telling.js';

const MESSAGES_MAX = 100;
const SEEN_IDS_MAX = 200;
const SEEN_CHARS = 16;
/** Of what is held, so that a state can be handed on at any time. */
const HELD_BYTES_MAX = 128 * 1024;
const UNJUDGED_MAX = 20;

export function ticketOf({ ticket }: { readonly ticket?: string }) {
  return ticket === undefined ? {} : { ticket };
}

function isEnding({ ending, final }: Goal): boolean {
  return ending !== undefined || (final !== undefined && !isLeaving({ final }));
}

/** The segment ends and the goal goes on: nobody here hears of what comes now. */
function isLeaving({ final }: Pick<Goal, 'final'>): boolean {
  return final?.kind === 'continue_as_new';
}

function tooLate(goal: Goal, name: string): Goal {
  return { ...goal, unprocessed: [...goal.unprocessed, name].slice(0, UNPROCESSED_MAX) };
}

type DecisionHeld = Unjudged & { readonly decision: Decision };
type MessageHeld = Unjudged & { readonly message: GoalMessage };

export function ofDecision(goal: Goal, held: DecisionHeld, mayWait: boolean): Goal {
  const { decision, ticket, at } = held;
  if (isEnding(goal)) {
    const refusal = { reason: 'run_closing', message: 'the goal is ending' } as const;
    const { goal: told, verdict } = refused(tooLate(goal, 'decision'), decision, refusal);
    return withVerdict(told, ticket, verdict);
  }
  const judged = judgeDecision(goal, decision);
  if (!judged.ok) {
    if (judged.reason === 'unknown_key' && mayWait) {
      const waiting = waits(goal, held);
      if (waiting !== undefined) return waiting;
    }
    const { goal: told, verdict } = refused(judged.goal, decision, judged);
    return withVerdict(told, ticket, verdict);
  }
  const { goal: next, verdict } = recordVote(judged.goal, decision, { signed: judged.signed, at });
  return withVerdict(next, ticket, verdict);
}

export function ofMessage(goal: Goal, held: MessageHeld, mayWait: boolean): Goal {
  const { message, ticket } = held;
  const seen = seenAs(message);
  if (goal.seenMessageIds.includes(seen)) return tellVerdict(goal, ticket, SEEN);
  if (isEnding(goal)) return tellVerdict(tooLate(goal, message.type), ticket, ENDED);
  if (!passes(goal, message) && !hasRoom(goal, message)) return refusedMessage(goal, held, BUSY);
  // Only its terms say what must be proven.
  if (goal.terms === undefined) return waits(goal, held) ?? refusedMessage(goal, held, BUSY);
  const judged = judgeMessage(goal, message);
  if (!judged.ok) {
    const unknown = judged.reason === 'unknown_key' && mayWait;
    if (unknown && !hasRoom(goal, message)) return refusedMessage(goal, held, BUSY);
    const waiting = unknown ? waits(goal, held) : undefined;
    return waiting ?? refusedMessage(judged.goal, held, judged);
  }
  const defect = clockDefect(goal, held);
  if (defect !== undefined) return refusedMessage(judged.goal, held, defect);
  const known = withSeen(judged.goal, message);
  // At once, whatever the goal is doing.
  if (message.type === 'cancel')
    return tellVerdict({ ...known, cancelRequested: true }, ticket, { accepted: true });
  const kept = { message, proven: judged.proven };
  const messages = (given: Pick<HeldMessage, 'ticket'>) => [
    ...goal.messages,
    { ...kept, ...given },
  ];
  return isLeaving(goal)
    ? tellVerdict({ ...known, messages: messages({}) }, ticket, RECEIVED)
    : { ...known, messages: messages(ticketOf(held)) };
}

/** What ends the goal waits for nothing, so that nothing of it is to be kept. */
function passes(goal: Goal, { type }: GoalMessage): boolean {
  return type === 'cancel' && goal.terms !== undefined && follows(goal, 'messageClocks');
}

/** A goal that ends hears nothing again. */
const ENDS: readonly GoalMessage['type'][] = ['cancel', 'stop'];

function clockDefect(goal: Goal, { message, at }: MessageHeld) {
  const { seenUpTo = -1 } = goal;
  if (!follows(goal, 'messageClocks')) return message.at <= seenUpTo ? TOO_OLD : undefined;
  if (ENDS.includes(message.type)) return undefined;
  if (isDatedAhead({ dated: message.at, came: at })) return TOO_NEW;
  // An older release has heard a date ahead: such a date says nothing of what came before.
  const isKnown = !isDatedAhead({ dated: seenUpTo, came: at });
  return isKnown && message.at <= seenUpTo ? TOO_OLD : undefined;
}

/** Ids are as long as their senders like. */
function seenAs({ id }: GoalMessage): string {
  return digestOf(id).slice(0, SEEN_CHARS);
}

/** Of ids that are forgotten the time is kept: whatever is not newer may have been heard before. */
function withSeen(goal: Goal, message: GoalMessage): Goal {
  const { at } = message;
  const seen = [...(goal.seenTimes ?? []), at];
  const forgotten = seen.slice(0, -SEEN_IDS_MAX);
  const seenUpTo = Math.max(goal.seenUpTo ?? -1, ...forgotten);
  return {
    ...goal,
    seenMessageIds: [...goal.seenMessageIds, seenAs(message)].slice(-SEEN_IDS_MAX),
    seenTimes: seen.slice(-SEEN_IDS_MAX),
    ...(forgotten.length > 0 && { seenUpTo }),
  };
}

function hasRoom({ messages, unjudged }: Goal, message: GoalMessage): boolean {
  if (messages.length >= MESSAGES_MAX) return false;
  const held = [...messages, ...unjudged].reduce((sum, one) => sum + jsonBytes(one as never), 0);
  return held + jsonBytes(message as never) <= HELD_BYTES_MAX;
}

const BUSY = { reason: 'busy', message: 'too much waits to be heeded; send again' } as const;
const TOO_OLD = {
  reason: 'not_applicable',
  message: 'it is older than what the goal remembers of messages; say it anew',
} as const;
const TOO_NEW = {
  reason: 'not_applicable',
  message: 'it is dated more than a minute ahead; set the clock of its sender and say it anew',
} as const;

const SEEN: MessageVerdict = { accepted: true, message: 'The message was received before.' };
const ENDED: MessageVerdict = {
  accepted: false,
  reason: 'goal_ended',
  message: 'the goal is ending',
};

function refusedMessage(
  goal: Goal,
  { message, ticket }: MessageHeld,
  {
    reason,
    message: words,
  }: {
    readonly reason: Extract<MessageVerdict, { accepted: false }>['reason'];
    readonly message: string;
  },
): Goal {
  const text = `${message.type} by ${message.by} does not count: ${words}`;
  const told = warnOf(goal, 'goal_message_refused', text);
  return tellVerdict(told, ticket, { accepted: false, reason, message: words });
}

function withVerdict(goal: Goal, ticket: string | undefined, verdict: Verdict): Goal {
  return ticket === undefined
    ? goal
    : { ...goal, verdicts: [...goal.verdicts, { ticket, verdict }] };
}

/** Signed with a key that the goal has not been told of: the keys are fetched (rules.ts). */
function waits(goal: Goal, held: Unjudged): Goal | undefined {
  return goal.unjudged.length >= UNJUDGED_MAX
    ? undefined
    : isLeaving(goal)
      ? leftUnjudged(goal, held)
      : { ...goal, unjudged: [...goal.unjudged, held] };
}

function leftUnjudged(goal: Goal, { ticket, ...held }: Unjudged): Goal {
  return tellVerdict({ ...goal, unjudged: [...goal.unjudged, held] }, ticket, RECEIVED);
}

export function judgeAgain(goal: Goal): Goal {
  const { unjudged } = goal;
  return unjudged.reduce<Goal>(
    (next, { decision, message, ...rest }) => {
      if (decision !== undefined) return ofDecision(next, { ...rest, decision }, false);
      return message === undefined ? next : ofMessage(next, { ...rest, message }, false);
    },
    { ...goal, unjudged: [] },
  );
}
