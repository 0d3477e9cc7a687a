/**
 * `receive(goal, input)`: records a fact.
 * Invariants: total: an unknown or late input becomes a warning, never an exception; decides nothing; inputs are taken
 * in the order of their arrival.
 */
import type { Decision, Verdict } from '../state/ask.js';
import type { Failure } from '../state/failure.js';
import type { GoalInput, GoalOutsideInput } from '../state/goal/input.js';
import type { GoalMessage, MessageVerdict } from '../state/goal/message.js';
import {
  isOpenGoal,
  type Goal,
  type HeldMessage,
  type OpenGoal,
  type Unjudged,
} from '../state/goal/goal.js';
import type { OpenGoalOutput } from '../state/goal/payloads.js';
import type { EffectInput } from '../state/input.js';
import { UNPROCESSED_MAX } from '../state/run.js';
import { knownRules } from '../step/changes.js';
import { finish } from '../step/inflight.js';
import { acked } from '../step/outbox.js';
import { digestOf, jsonBytes, ownValue } from '../json/json.js';
import { recordVote, refused } from './asks.js';
import {
  childEnded,
  childStarted,
  cycleClosed,
  cycleNotClosed,
  cycleNotPrepared,
  cyclePrepared,
} from './cycle.js';
import { answered as tellVerdict, messageNotTaken, messageTaken, RECEIVED } from './heed.js';
import { checkpointNotSaved, checkpointSaved, checkRan } from './pass.js';
import { judgeDecision, judgeMessage } from './proof.js';
import { answered, notAnswered } from './question.js';
import { tickFound } from './rest.js';
import { warnOf } from './telling.js';

const MESSAGES_MAX = 100;
const SEEN_IDS_MAX = 200;
const SEEN_CHARS = 16;
/** Of what is held, so that a state can be handed on at any time. */
const HELD_BYTES_MAX = 128 * 1024;
const UNJUDGED_MAX = 20;

export function receive(goal: Goal, input: GoalInput): Goal {
  const now: Goal = { ...goal, now: Math.max(goal.now, input.at) };
  if (input.type === 'segment_full') return { ...now, segment: { ...now.segment, full: true } };
  return 'id' in input ? ofEffect(now, input) : fromOutside(now, input as GoalOutsideInput);
}

function ofEffect(goal: Goal, input: EffectInput): Goal {
  const entry = ownValue(goal.inflight, input.id);
  if (entry === undefined)
    return warnOf(goal, 'late_input', `${input.type} of ${input.id}, which is not in flight`);
  const ended = finish(goal, input.id);
  // Clocks of servers differ: a timer that has fired has reached its moment.
  if (input.type === 'timer_fired')
    return timedOut({ ...ended, now: Math.max(ended.now, entry.at ?? 0) }, input.id);
  if (input.type === 'child_started') return isOpenGoal(ended) ? childStarted(ended) : ended;
  if (input.type === 'effect_failed')
    return failed(ended, { kind: entry.kind, id: input.id, failure: input.failure });
  const heard = acked(ended, input.output.eventsUpTo);
  const { store } = input.output;
  const met = store === undefined ? heard : { ...heard, store };
  if (input.type === 'goal_opened') return opened(met, input.output);
  if (input.type === 'keys_fetched') return judgeAgain({ ...met, deskKeys: input.output.deskKeys });
  return isOpenGoal(met) ? succeeded(met, input) : met;
}

function opened(goal: Goal, output: OpenGoalOutput): Goal {
  const { rules, terms, memory, plan, stateHeld, bests = {}, deskKeys } = output;
  const { previousExecution: _, ...known } = goal;
  const segment = { ...goal.segment, opened: true };
  const next: Goal = {
    ...known,
    rules: knownRules(Math.max(goal.rules, rules)),
    segment,
    ...(deskKeys !== undefined && { deskKeys }),
  };
  if (terms === undefined || memory === undefined) return judgeAgain(next);
  const { start: __, ...begun } = next;
  const checks = Object.fromEntries(
    Object.entries(bests).map(([name, best]) => [
      name,
      { n: 0, known: false, held: [], best, unknownCycles: 0, cycle: 0 },
    ]),
  );
  return judgeAgain({
    ...begun,
    terms,
    memory,
    checks,
    ...(plan !== undefined && { plan }),
    ...(stateHeld !== undefined && { stateHeld }),
  });
}

type Succeeded = Extract<EffectInput, { readonly output: unknown }>;

function succeeded(goal: OpenGoal, input: Succeeded): Goal {
  switch (input.type) {
    case 'cycle_prepared':
      return cyclePrepared(goal, input.id, input.output);
    case 'cycle_closed':
      return cycleClosed(goal, input.id, input.output);
    case 'check_ran':
      return checkRan(goal, input.id, input.output);
    case 'judge_answered':
      return answered(goal, input.id, input.output);
    case 'checkpoint_saved':
      return checkpointSaved(goal, input.output);
    case 'message_taken':
      return messageTaken(goal, input.id, input.output);
    case 'tick_found':
      return tickFound(goal, input.id, input.output.at);
    default:
      return goal;
  }
}

interface Failed {
  readonly kind: string;
  readonly id: string;
  readonly failure: Failure;
}

function failed(goal: Goal, { kind, id, failure }: Failed): Goal {
  if (kind === 'open_goal') return notOpened(goal, failure);
  if (kind === 'fetch_keys') return judgeAgain(goal);
  if (!isOpenGoal(goal)) return goal;
  switch (kind) {
    case 'prepare_cycle':
      return cycleNotPrepared(goal, id, failure);
    case 'close_cycle':
      return cycleNotClosed(goal);
    case 'run_check':
      return checkRan(goal, id, {
        eventsUpTo: 0,
        known: false,
        held: [],
        because: failure.message,
      });
    case 'ask_judge':
      return notAnswered(goal, id, failure);
    case 'take_message':
      return messageNotTaken(goal, id, failure);
    case 'start_child':
      // Whether it is there is for its row and Temporal to say.
      return {
        ...childStarted(goal),
        ...(goal.cycle !== undefined && { cycle: { ...goal.cycle, stage: 'open', due: true } }),
      };
    case 'save_checkpoint':
      return checkpointNotSaved(goal, failure);
    case 'find_tick':
      return tickFound(goal, id, null);
    default:
      return goal;
  }
}

/** The first segment ends with it (rules.ts); a later one lacks only the archive of the one before. */
function notOpened(goal: Goal, failure: Failure): Goal {
  if (!isOpenGoal(goal)) return { ...goal, notOpened: failure };
  const warned = warnOf(goal, 'segment_not_archived', failure.message);
  return { ...warned, segment: { ...goal.segment, opened: true } };
}

function timedOut(goal: Goal, timer: string): Goal {
  const { cycle, ending, sleep, asks } = goal;
  if (cycle?.look?.timer === timer) {
    const { look, ...rest } = cycle;
    return {
      ...goal,
      cycle: { ...rest, due: true, lookedAfterMs: look.afterMs, nextLookMs: look.afterMs },
    };
  }
  if (ending?.timer === timer) return { ...goal, ending: { ...ending, overdue: true } };
  if (sleep?.timer === timer) {
    const { timer: _, ...rest } = sleep;
    return { ...goal, sleep: rest };
  }
  const ask = asks.find((one) => one.timer === timer);
  return ask === undefined
    ? goal
    : { ...goal, asks: asks.map((one) => (one === ask ? { ...ask, elapsed: true } : one)) };
}

function fromOutside(goal: Goal, input: GoalOutsideInput): Goal {
  switch (input.type) {
    case 'cancel_requested':
      return { ...goal, cancelRequested: true };
    case 'child_ended':
      return childEnded(goal, input.child);
    case 'input_rejected':
      return warnOf(goal, `rejected_${input.message}`, input.reason);
    case 'decision':
      return ofDecision(goal, { decision: input.decision, at: input.at, ...ticketOf(input) }, true);
    case 'goal_message':
      return ofMessage(goal, { message: input.message, at: input.at, ...ticketOf(input) }, true);
  }
}

function ticketOf({ ticket }: { readonly ticket?: string }) {
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

function ofDecision(goal: Goal, held: DecisionHeld, mayWait: boolean): Goal {
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

function ofMessage(goal: Goal, held: MessageHeld, mayWait: boolean): Goal {
  const { message, ticket } = held;
  const seen = seenAs(message);
  if (goal.seenMessageIds.includes(seen)) return tellVerdict(goal, ticket, SEEN);
  if (isEnding(goal)) return tellVerdict(tooLate(goal, message.type), ticket, ENDED);
  if (!hasRoom(goal, message)) return refusedMessage(goal, held, BUSY);
  // Only its terms say what must be proven.
  if (goal.terms === undefined) return waits(goal, held) ?? refusedMessage(goal, held, BUSY);
  const judged = judgeMessage(goal, message);
  if (!judged.ok) {
    const waiting = judged.reason === 'unknown_key' && mayWait ? waits(goal, held) : undefined;
    return waiting ?? refusedMessage(judged.goal, held, judged);
  }
  if (message.at <= (goal.seenUpTo ?? -1)) return refusedMessage(judged.goal, held, TOO_OLD);
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

const SEEN: MessageVerdict = { accepted: true, message: 'it was received before' };
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

function judgeAgain(goal: Goal): Goal {
  const { unjudged } = goal;
  return unjudged.reduce<Goal>(
    (next, { decision, message, ...rest }) => {
      if (decision !== undefined) return ofDecision(next, { ...rest, decision }, false);
      return message === undefined ? next : ofMessage(next, { ...rest, message }, false);
    },
    { ...goal, unjudged: [] },
  );
}
