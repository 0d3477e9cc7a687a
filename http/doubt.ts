/** What is not known of the runs that a change replaces. */
import type { TranscriptMessage } from '../client/index.js';
import { Problem } from '../console/http/problem.js';
import type { RunEvent } from '../core/state/event.js';
import type { Chat } from './chat.js';
import type { Speaking } from './deliveries.js';
import { runOf } from './projection/messages.js';

/** Runs, and events of all of them, that are looked at: of a change that replaces more nobody knows. */
const RUNS_MAX = 50;
const EVENTS_MAX = 20_000;

/**
 * Errors: a Problem if nobody knows whether a call of theirs took effect, which the change would make once more. `at`: the
 * message that is changed; `behind`: what is stored behind it.
 */
export async function checkDoubt(
  chat: Chat,
  at: Speaking,
  behind: readonly TranscriptMessage[],
): Promise<void> {
  const runs = [...new Set([at.runId, ...behind.map(({ messageId }) => runOf(messageId))])];
  if (runs.length > RUNS_MAX) refuseLong();
  let events = 0;
  for (const runId of runs.toReversed()) {
    const { span } = at;
    const since = runId === at.runId && typeof span === 'object' && 'seq' in span ? span.seq : 0;
    // Of a run that broke off, calls that were under way.
    const started = new Map<string, string>();
    for await (const event of chat.client.handle(runId).events({ since, untilNow: true })) {
      if (event.type === 'tool_started') started.set(event.callId, event.tool);
      if (event.type === 'tool_finished') started.delete(event.callId);
      if (isInDoubt(event)) refuse(event.tool);
      if (event.type === 'run_result') started.clear();
      if ((events += 1) > EVENTS_MAX) refuseLong();
    }
    const [tool] = started.values();
    if (tool !== undefined) refuse(tool);
  }
}

/** The same of runs that are open, before they are stopped: what became of a call is being asked. Errors: a Problem. */
export async function checkAsked(chat: Chat, runs: readonly string[]): Promise<void> {
  for (const runId of runs) {
    const asked = new Map<string, string>();
    let events = 0;
    for await (const event of chat.client.handle(runId).events({ since: 0, untilNow: true })) {
      if (event.type === 'approval_requested' && event.kind === 'outcome')
        asked.set(event.askId, event.tool ?? 'a tool');
      if (event.type === 'approval_resolved') asked.delete(event.askId);
      if ((events += 1) > EVENTS_MAX) break;
    }
    const [tool] = asked.values();
    if (tool !== undefined) refuse(tool);
  }
}

function isInDoubt(event: RunEvent): event is Extract<RunEvent, { type: 'tool_finished' }> {
  return event.type === 'tool_finished' && event.code === 'outcome_unknown';
}

function refuse(tool: string): never {
  refused(`A call of ${tool} in the answer before may have taken effect: nobody knows.`);
}

function refuseLong(): never {
  refused('The answers before are too long to see whether a call in them may have taken effect.');
}

function refused(detail: string): never {
  const hint = 'Find out what became of the call, then send the change with "acceptUnknown": true.';
  throw new Problem(409, { code: 'outcome_unknown', detail, hint });
}
