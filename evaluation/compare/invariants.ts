/**
 * What holds of every case, whatever it expects: of the events by the core's own
 * predicates, of the conversation and the executions here, and what the engine found while it ran.
 */
import { checkEvent, startChecking } from '../../pure/invariants.js';
import type { RunEvent } from '../../core/state/event.js';
import { isMutating } from '../../core/state/tool.js';
import type { Observation, SeenMessage } from '../engine.js';
import type { Fixture } from '../fixture.js';
import { difference, type Difference } from './difference.js';
import { ofType } from './trail.js';

export function judgeInvariants(fixture: Fixture, observation: Observation): readonly Difference[] {
  // A start that was refused has no run to judge.
  const ran = observation.startError === undefined;
  // Of a goal and its cycles the engine has judged the events, each by the rules of its kind.
  const isRun = fixture.goal === undefined;
  const violations = new Set([
    ...observation.violations,
    ...(ran && isRun ? eventViolations(observation) : []),
    ...conversationViolations(observation.transcript),
    ...permissionViolations(fixture, observation),
    ...(observation.replayed === false ? ['the exported history does not replay'] : []),
  ]);
  return [...violations].flatMap((violation) => difference('invariants', 'holds', violation));
}

function eventViolations({ events }: Observation): readonly string[] {
  let state = startChecking();
  const found = events.flatMap((event) => {
    const checked = checkEvent(state, event);
    state = checked.state;
    return checked.violations;
  });
  const stops = ofType(events, 'stop').length;
  return [
    ...found,
    ...(stops === 1 ? [] : [`${stops} stop events in the run`]),
    ...(events.at(-1)?.type === 'run_result' ? [] : ['the last event is not run_result']),
  ];
}

/** (i) and (ii): every call has its one result, in order, in the next message; no answer is empty. */
export function conversationViolations(messages: readonly SeenMessage[]): readonly string[] {
  return messages.flatMap((message, index) => {
    const before = messages[index - 1];
    if (message.letter === 'R') {
      return before?.letter === 'A' ? [] : [`${message.messageId} has results of no message`];
    }
    if (message.letter !== 'A') return [];
    if (message.calls.length === 0) {
      return message.text.trim() === '' ? [`${message.messageId} is an empty answer`] : [];
    }
    const next = messages[index + 1];
    const wanted = message.calls.map((call) => call.id).join();
    const given = next?.letter === 'R' ? next.results.map((result) => result.id).join() : 'nothing';
    return wanted === given
      ? []
      : [`${message.messageId} calls ${wanted}, the message after it answers ${given}`];
  });
}

/** (v): nothing that changes the world starts before a permission event of its call. */
function permissionViolations(
  fixture: Fixture,
  { events: own, executions, goal }: Observation,
): readonly string[] {
  const events = goal?.tree ?? own;
  const proposed = new Set(
    ofType(events, 'model_response').flatMap((event) => event.calls.map(idOf)),
  );
  return executions.flatMap(({ callId, tool }) => {
    const record = fixture.tools.get(tool);
    if (record === undefined || !isMutating(record) || !proposed.has(callId)) return [];
    return isPermitted(callId, events) ? [] : [`${tool} (${callId}) ran without a permission`];
  });
}

function idOf(call: { readonly id: string }): string {
  return call.id;
}

function isPermitted(callId: string, events: readonly RunEvent[]): boolean {
  const started = events.findIndex(
    (event) => event.type === 'tool_started' && event.callId === callId,
  );
  const before = events.slice(0, started < 0 ? events.length : started);
  return before.some((event) => event.type === 'permission' && event.callId === callId);
}
