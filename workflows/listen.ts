/**
 * Signals, the Update and queries. Handlers only enqueue: the loop decides (W2). Each parses its argument to
 * an Input, or to `input_rejected` with the reason.
 */
import {
  ApplicationFailure,
  condition,
  setDefaultSignalHandler,
  setHandler,
} from '@temporalio/workflow';
import type { Verdict } from '../core/state/ask.js';
import type { Input } from '../core/state/input.js';
import {
  parseDecision,
  parseModelName,
  parsePermissionMode,
  parseProvidedInput,
  parseThinkingTokens,
  parseUserMessage,
  type Parsed,
} from '../core/messages/parse-message.js';
import { wholeTexts } from '../core/loop/whole-texts.js';
import { openAsksOf, questionOf, viewOfRun } from '../core/loop/run-result.js';
import type { Run } from '../core/state/run.js';
import type { RejectedMessage } from '../core/state/warning.js';
import type { Inbox } from './inbox.js';
import * as messages from './messages.js';

/** Registers all handlers. Returns what hands verdicts to the Updates that wait for them. */
export function listen(inbox: Inbox, current: () => Run): (run: Run) => Run {
  listenToSignals(inbox, current);
  setHandler(messages.state, () => viewOfRun(current()));
  setHandler(messages.pendingApprovals, () => openAsksOf(current()));
  setHandler(messages.question, (askId) => questionOf(current(), askId));
  setHandler(messages.events, (since) => {
    const from = typeof since === 'number' ? since : 0;
    return current().outbox.events.filter((event) => event.stamp.seq >= from);
  });
  return answerUpdates(inbox, current);
}

function listenToSignals(inbox: Inbox, current: () => Run): void {
  const take = takerOf(inbox, current);
  setHandler(messages.resolveApproval, (raw) =>
    take('resolveApproval', [raw, parseDecision], (decision) => ({
      type: 'decision',
      decision,
      at: Date.now(),
    })),
  );
  setHandler(messages.provideInput, (raw) =>
    take('provideInput', [raw, parseProvidedInput], (input) => ({
      type: 'input_provided',
      ...input,
      at: Date.now(),
    })),
  );
  setHandler(messages.userMessage, (raw) =>
    take('userMessage', [raw, parseUserMessage], (message) => ({
      type: 'user_message',
      ...message,
      at: Date.now(),
    })),
  );
  listenToControl(take);
  setHandler(messages.interrupt, () => {
    inbox.put({ type: 'interrupt', at: Date.now() });
  });
  setHandler(messages.close, () => {
    inbox.put({ type: 'close', at: Date.now() });
  });
  setHandler(messages.nextSegment, () => {
    inbox.put({ type: 'segment_full', at: Date.now() });
  });
  setDefaultSignalHandler((name) => {
    const reason = `this workflow knows no signal '${name.slice(0, 100)}'`;
    inbox.put({ type: 'input_rejected', message: 'signal', reason, at: Date.now() });
  });
}

type Take = <T>(
  message: RejectedMessage,
  came: readonly [raw: unknown, parse: (raw: unknown) => Parsed<T>],
  make: (value: T) => Input,
) => void;

function takerOf(inbox: Inbox, current: () => Run): Take {
  return (message, [raw, parse], make) => {
    const parsed = wholeTexts(current(), raw, parse(raw));
    inbox.put(
      parsed.ok
        ? make(parsed.value)
        : { type: 'input_rejected', message, reason: parsed.reason, at: Date.now() },
    );
  };
}

/** What changes how a run goes on. */
function listenToControl(take: Take): void {
  setHandler(messages.setModel, (raw) =>
    take('setModel', [raw, parseModelName], (model) => ({
      type: 'set_model',
      model,
      at: Date.now(),
    })),
  );
  setHandler(messages.setMaxThinkingTokens, (raw) =>
    take('setMaxThinkingTokens', [raw, parseThinkingTokens], (tokens) => ({
      type: 'set_max_thinking_tokens',
      tokens,
      at: Date.now(),
    })),
  );
  setHandler(messages.setPermissionMode, (raw) =>
    take('setPermissionMode', [raw, parsePermissionMode], (mode) => ({
      type: 'set_permission_mode',
      mode,
      at: Date.now(),
    })),
  );
}

function answerUpdates(inbox: Inbox, current: () => Run): (run: Run) => Run {
  const read = (raw: unknown) => wholeTexts(current(), raw, parseDecision(raw));
  const answered = new Map<string, Verdict>();
  let tickets = 0;
  setHandler(
    messages.decide,
    async (raw) => {
      const parsed = read(raw);
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
        const parsed = read(raw);
        if (!parsed.ok) throw ApplicationFailure.nonRetryable(parsed.reason, 'DecisionRejected');
      },
    },
  );
  return (run) => {
    for (const { ticket, verdict } of run.verdicts) answered.set(ticket, verdict);
    return run.verdicts.length === 0 ? run : { ...run, verdicts: [] };
  };
}
