/**
 * Signals, the Update and queries. Handlers only enqueue: the loop decides (W2). The core says what a signal means
 * (core/loop/signals.ts).
 */
import {
  ApplicationFailure,
  condition,
  defineSignal,
  setDefaultSignalHandler,
  setHandler,
} from '@temporalio/workflow';
import type { Verdict } from '../core/state/ask.js';
import { heard, heardDecision, RUN_SIGNALS } from '../core/loop/signals.js';
import { openAsksOf, questionOf, viewOfRun } from '../core/loop/run-result.js';
import type { Run } from '../core/state/run.js';
import type { Inbox } from './inbox.js';
import * as messages from './messages.js';

/** Registers all handlers. Returns what hands verdicts to the Updates that wait for them. */
export function listen(inbox: Inbox, current: () => Run): (run: Run) => Run {
  const take = (name: string, raw: unknown): void => {
    inbox.put(heard(current(), { name, raw, at: Date.now() }));
  };
  for (const name of RUN_SIGNALS) {
    setHandler(defineSignal<[unknown]>(name), (raw) => take(name, raw));
  }
  setDefaultSignalHandler(take);
  setHandler(messages.state, () => viewOfRun(current()));
  setHandler(messages.pendingApprovals, () => openAsksOf(current()));
  setHandler(messages.question, (askId) => questionOf(current(), askId));
  setHandler(messages.events, (since) => {
    const from = typeof since === 'number' ? since : 0;
    return current().outbox.events.filter((event) => event.stamp.seq >= from);
  });
  return answerUpdates(inbox, current);
}

function answerUpdates(inbox: Inbox, current: () => Run): (run: Run) => Run {
  const answered = new Map<string, Verdict>();
  let tickets = 0;
  setHandler(
    messages.decide,
    async (raw) => {
      const parsed = heardDecision(current(), raw);
      if (!parsed.ok) return { accepted: false, reason: 'malformed', message: parsed.reason };
      tickets += 1;
      const ticket = `decide-${tickets}`;
      inbox.put({ type: 'decision', decision: parsed.value, ticket, at: Date.now() });
      await condition(() => answered.has(ticket));
      return answered.get(ticket)!;
    },
    {
      // Synchronous on purpose: an async validator rejects nothing.
      validator: (raw) => {
        const parsed = heardDecision(current(), raw);
        if (!parsed.ok) throw ApplicationFailure.nonRetryable(parsed.reason, 'DecisionRejected');
      },
    },
  );
  return (run) => {
    for (const { ticket, verdict } of run.verdicts) answered.set(ticket, verdict);
    return run.verdicts.length === 0 ? run : { ...run, verdicts: [] };
  };
}
