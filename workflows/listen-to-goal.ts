/**
 * Signals, Updates and queries of a goal. Handlers only enqueue: the loop decides. Each parses its argument to an input,
 * or to `input_rejected` with the reason.
 */
import {
  ApplicationFailure,
  condition,
  setDefaultSignalHandler,
  setHandler,
} from '@temporalio/workflow';
import { parseDecision, type Parsed } from '../core/messages/parse-message.js';
import { parseGoalMessage } from '../core/messages/parse-goal-message.js';
import { openGoalAsks, questionOfGoal, viewOfGoal } from '../core/goal/result.js';
import type { Goal } from '../core/state/goal/goal.js';
import type { GoalInput } from '../core/state/goal/input.js';
import type { MessageVerdict } from '../core/state/goal/message.js';
import { isWellFormed } from '../core/json/shape.js';
import type { Decision, Verdict } from '../core/state/ask.js';
import type { Inbox } from './inbox.js';
import * as messages from './messages.js';

const ID_CHARS_MAX = 200;

/** Registers all handlers. Returns what hands verdicts to the Updates that wait for them. */
export function listenToGoal(inbox: Inbox<GoalInput>, current: () => Goal): (goal: Goal) => Goal {
  setHandler(messages.goalMessage, (raw) => {
    const parsed = parseGoalMessage(raw);
    inbox.put(
      parsed.ok
        ? { type: 'goal_message', message: parsed.value, at: Date.now() }
        : rejected('goalMessage', parsed.reason),
    );
  });
  setHandler(messages.resolveApproval, (raw) => {
    const parsed = wholeDecision(raw);
    inbox.put(
      parsed.ok
        ? { type: 'decision', decision: parsed.value, at: Date.now() }
        : rejected('resolveApproval', parsed.reason),
    );
  });
  setHandler(messages.childEnded, (raw: unknown) => {
    inbox.put(
      typeof raw === 'string' && raw.length <= ID_CHARS_MAX
        ? { type: 'child_ended', child: raw, at: Date.now() }
        : rejected('signal', 'childEnded must name a run'),
    );
  });
  setHandler(messages.nextSegment, () => {
    inbox.put({ type: 'segment_full', at: Date.now() });
  });
  setDefaultSignalHandler((name) => {
    inbox.put(rejected('signal', `this workflow knows no signal '${name.slice(0, 100)}'`));
  });
  setHandler(messages.goalState, () => viewOfGoal(current()));
  setHandler(messages.pendingApprovals, () => openGoalAsks(current()));
  setHandler(messages.question, (askId) => questionOfGoal(current(), askId));
  setHandler(messages.events, (since) => {
    const from = typeof since === 'number' ? since : 0;
    return current().outbox.events.filter((event) => event.stamp.seq >= from);
  });
  return answerUpdates(inbox);
}

function rejected(
  message: 'goalMessage' | 'resolveApproval' | 'signal',
  reason: string,
): GoalInput {
  return { type: 'input_rejected', message, reason, at: Date.now() };
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

function wholeDecision(raw: unknown): Parsed<Decision> {
  const parsed = parseDecision(raw);
  if (!parsed.ok || isWellFormed(parsed.value)) return parsed;
  return { ok: false, reason: 'a text of the decision has half of a surrogate pair' };
}

/** Synchronous on purpose: an async validator rejects nothing. */
function refuseMalformed(parsed: Parsed<unknown>): void {
  if (!parsed.ok) throw ApplicationFailure.nonRetryable(parsed.reason, 'DecisionRejected');
}
