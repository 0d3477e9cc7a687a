/**
 * `receive(goal, input)`: records a fact.
 * Invariants: total: an unknown or late input becomes a warning, never an exception; decides nothing; inputs are taken
 * in the order of their arrival.
 */
import type { Failure } from '../state/failure.js';
import type { GoalInput, GoalOutsideInput } from '../state/goal/input.js';
import { isOpenGoal, type Goal, type OpenGoal } from '../state/goal/goal.js';
import type { OpenGoalOutput } from '../state/goal/payloads.js';
import type { EffectInput } from '../state/input.js';
import { knownRules } from '../step/changes.js';
import { finish } from '../step/inflight.js';
import { lookedFor } from '../step/watch-child.js';
import { acked } from '../step/outbox.js';
import { ownValue } from '../json/json.js';
import { childEnded, childStarted } from './cycle.js';
import { cycleNotPrepared, cyclePrepared } from './cycle-prepared.js';
import { cycleClosed, cycleNotClosed } from './cycle-end.js';
import { messageNotTaken, messageTaken } from './heed.js';
import { checkpointNotSaved, checkpointSaved } from './pass.js';
import { checkRan } from './checks.js';
import { answered, notAnswered } from './question.js';
import { tickFound } from './sleep.js';
import { warnOf } from './telling.js';
import { ticketOf, ofDecision, ofMessage, judgeAgain } from './heard.js';

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
  if (input.type === 'child_started') return isOpenGoal(ended) ? childStarted(ended, input) : ended;
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
  // A segment that is opened later has a grace of its own.
  const { previousExecution: _execution, openingTimer: _timer, ...known } = goal;
  const segment = { ...goal.segment, opened: true };
  const next: Goal = {
    ...known,
    rules: knownRules(Math.max(goal.rules, rules)),
    segment,
    ...(deskKeys !== undefined && { deskKeys }),
  };
  if (terms === undefined || memory === undefined) return judgeAgain(next);
  const { start: _, ...begun } = next;
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
      return childStarted(goal, { existed: true });
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
    return { ...goal, cycle: lookedFor(cycle) };
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
