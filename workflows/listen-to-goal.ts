/**
 * Signals, Updates and queries of a goal. Handlers only enqueue: the loop decides. The core says what a signal
 * means (core/goal/signals.ts).
 */
import {
  ApplicationFailure,
  condition,
  defineSignal,
  setDefaultSignalHandler,
  setHandler,
} from '@temporalio/workflow';
import type { Parsed } from '../core/messages/parse-message.js';
import { parseGoalMessage } from '../core/messages/parse-goal-message.js';
import { GOAL_SIGNALS, heardByGoal, wholeDecision } from '../core/goal/signals.js';
import { openGoalAsks, questionOfGoal, viewOfGoal } from '../core/goal/result.js';
import type { Goal } from '../core/state/goal/goal.js';
import type { GoalInput } from '../core/state/goal/input.js';
import type { MessageVerdict } from '../core/state/goal/message.js';
import type { Verdict } from '../core/state/ask.js';
import type { Inbox } from './inbox.js';
import * as messages from './messages.js';

/** Registers all handlers. Returns what hands verdicts to the Updates that wait for them. */
export function listenToGoal(inbox: Inbox<GoalInput>, current: () => Goal): (goal: Goal) => Goal {
  const take = (name: string, raw: unknown): void => {
    inbox.put(heardByGoal({ name, raw, at: Date.now() }));
  };
  for (const name of GOAL_SIGNALS) {
    setHandler(defineSignal<[unknown]>(name), (raw) => take(name, raw));
  }
  setDefaultSignalHandler(take);
  setHandler(messages.goalState, () => viewOfGoal(current()));
  setHandler(messages.pendingApprovals, () => openGoalAsks(current()));
  setHandler(messages.question, (askId) => questionOfGoal(current(), askId));
  setHandler(messages.events, (since) => {
    const from = typeof since === 'number' ? since : 0;
    return current().outbox.events.filter((event) => event.stamp.seq >= from);
  });
  return answerUpdates(inbox);
}

function answerUpdates(inbox: Inbox<GoalInput>): (goal: Goal) => Goal {
  const answered = new Map<string, Verdict | MessageVerdict>();
  let tickets = 0;
  async function verdictOf(make: (ticket: string) => GoalInput): Promise<unknown> {
    tickets += 1;
    const ticket = `update-${tickets}`;
    inbox.put(make(ticket));
    await condition(() => answered.has(ticket));
    return answered.get(ticket);
  }
  setHandler(
    messages.decide,
    async (raw) => {
      const parsed = wholeDecision(raw);
      if (!parsed.ok) return { accepted: false, reason: 'malformed', message: parsed.reason };
      const decision = parsed.value;
      return (await verdictOf((ticket) => ({
        type: 'decision',
        decision,
        ticket,
        at: Date.now(),
      }))) as Verdict;
    },
    { validator: (raw) => refuseMalformed(wholeDecision(raw)) },
  );
  setHandler(
    messages.tellGoal,
    async (raw) => {
      const parsed = parseGoalMessage(raw);
      if (!parsed.ok) return { accepted: false, reason: 'malformed', message: parsed.reason };
      const message = parsed.value;
      return (await verdictOf((ticket) => ({
        type: 'goal_message',
        message,
        ticket,
        at: Date.now(),
      }))) as MessageVerdict;
    },
    { validator: (raw) => refuseMalformed(parseGoalMessage(raw)) },
  );
  return (goal) => {
    for (const { ticket, verdict } of goal.verdicts) answered.set(ticket, verdict);
    return goal.verdicts.length === 0 ? goal : { ...goal, verdicts: [] };
  };
}

/** Synchronous on purpose: an async validator rejects nothing. */
function refuseMalformed(parsed: Parsed<unknown>): void {
  if (!parsed.ok) throw ApplicationFailure.nonRetryable(parsed.reason, 'DecisionRejected');
}
