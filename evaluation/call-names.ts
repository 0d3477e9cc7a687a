/**
 * Ids of calls as the script has them. A reply that stands for several copies calls under one id each time,
 * and a repeated id gets a number at its end (G42) that whoever wrote the case need not know.
 */
import type { RunEvent } from '../core/state/event.js';
import type { Observation, SeenMessage } from './engine.js';
import type { Fixture } from './fixture.js';
import type { Script } from './script.js';

/** The written id of a call that the run knows by this one. */
export type CallName = (callId: string) => string;

const NUMBERED = /_\d+$/;

export function callNameOf(
  fixture: Pick<Fixture, 'model' | 'agents' | 'runs' | 'goal' | 'expected'>,
): CallName {
  const scripts = [
    fixture.model,
    ...[...fixture.agents.values()].flatMap(({ model }) => (model === undefined ? [] : [model])),
    ...fixture.runs.values(),
    ...(fixture.goal?.cycles ?? []).map(({ model }) => model),
  ];
  const written = new Set(scripts.flatMap(idsIn));
  const wanted = JSON.stringify(fixture.expected);
  return (callId) => {
    // A case may well speak of the third call under an id by the number that it got.
    if (written.has(callId) || wanted.includes(JSON.stringify(callId))) return callId;
    const base = callId.replace(NUMBERED, '');
    return written.has(base) ? base : callId;
  };
}

function idsIn(script: Script): readonly string[] {
  return script.flatMap(({ reply }) => {
    const calls = reply.kind === 'answer' ? reply.calls : (reply.after?.calls ?? []);
    return calls.map(({ id }) => id);
  });
}

/** The same observation in the words of the case. */
export function inWrittenNames(observation: Observation, name: CallName): Observation {
  if (observation.executions.every(({ callId }) => name(callId) === callId)) {
    const { others = [] } = observation;
    const below = others.flatMap(({ events }) => events);
    const ids = [...(observation.goal?.tree ?? observation.events), ...below].flatMap((event) =>
      event.type === 'model_response' ? event.calls.map(({ id }) => id) : [],
    );
    if (ids.every((id) => name(id) === id)) return observation;
  }
  const message = (one: SeenMessage): SeenMessage => ({
    ...one,
    calls: one.calls.map((call) => ({ ...call, id: name(call.id) })),
    results: one.results.map((result) => ({ ...result, id: name(result.id) })),
  });
  const { goal } = observation;
  return {
    ...observation,
    events: observation.events.map((event) => renamed(event, name)),
    ...(goal !== undefined && {
      goal: { ...goal, tree: goal.tree.map((event) => renamed(event, name)) },
    }),
    others: (observation.others ?? []).map((run) => ({
      ...run,
      events: run.events.map((event) => renamed(event, name)),
    })),
    executions: observation.executions.map((one) => ({ ...one, callId: name(one.callId) })),
    transcript: observation.transcript.map(message),
    requests: observation.requests.map((request) => ({
      ...request,
      messages: request.messages.map(message),
    })),
  };
}

function renamed(event: RunEvent, name: CallName): RunEvent {
  switch (event.type) {
    case 'model_response':
      return { ...event, calls: event.calls.map((call) => ({ ...call, id: name(call.id) })) };
    case 'tool_results_message':
      return { ...event, callIds: event.callIds.map(name) };
    default:
      return 'callId' in event && event.callId !== undefined
        ? { ...event, callId: name(event.callId) }
        : event;
  }
}
