/** What both engines have seen of a played case, in the terms of the comparison. */
import type { RunEvent } from '../../core/state/event.js';
import type { Observation, SeenExecution } from '../engine.js';
import type { Cast } from './cast.js';

/** What an engine has of a case besides its messages and its verdict; without a start there are no events. */
export function evidenceOf(
  { cast, began }: { readonly cast: Cast; readonly began: number },
  events: readonly RunEvent[],
): Omit<Observation, 'transcript'> {
  return {
    events,
    requests: cast.requests,
    executions: inOrderOfStart(cast.executions.seen(), events),
    effects: cast.executions.effects(),
    maxInFlight: mostInFlight(events),
    violations: [],
    persisted: 0,
    resumedWith: [],
    tookMs: performance.now() - began,
  };
}

/**
 * In the order in which the run handed them over: which of two executors that start together is seen first
 * is chance.
 */
function inOrderOfStart(
  executions: readonly SeenExecution[],
  events: readonly RunEvent[],
): readonly SeenExecution[] {
  const started = events.flatMap((event) => (event.type === 'tool_started' ? [event.key] : []));
  const place = ({ key }: SeenExecution): number => {
    const index = started.indexOf(key);
    return index < 0 ? started.length : index;
  };
  return executions.toSorted((one, other) => place(one) - place(other));
}

/** The greatest number of calls between their start and their end. */
function mostInFlight(events: readonly RunEvent[]): number {
  const flying = new Set<string>();
  let most = 0;
  for (const event of events) {
    if (event.type === 'tool_started') flying.add(event.callId);
    if (event.type === 'tool_finished') flying.delete(event.callId);
    most = Math.max(most, flying.size);
  }
  return most;
}
