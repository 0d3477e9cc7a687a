/** What both engines have seen of a played case, in the terms of the comparison. */
import type { RunEvent } from '../../core/state/event.js';
import type { Observation, SeenExecution } from '../engine.js';
import type { Fixture } from '../fixture.js';
import { isOtherRun, mostInFlight, otherRuns, ownEffects, ownExecutions } from '../run-tree.js';
import type { Cast } from './cast.js';

interface Evidence {
  readonly cast: Cast;
  readonly began: number;
  readonly fixture: Fixture;
  /** Of the run, its sub-agents and those that go on with its task, in order; default: those of the run. */
  readonly tree?: readonly RunEvent[];
}

/** What an engine has of a case besides its messages and its verdict; without a start there are no events. */
export function evidenceOf(
  { cast, began, fixture, tree }: Evidence,
  events: readonly RunEvent[],
): Omit<Observation, 'transcript'> {
  const { requests, executions } = cast;
  const all = tree ?? events;
  return {
    events,
    requests: requests.filter((one) => one.runId === undefined || !isOtherRun(one.runId)),
    others: otherRuns(all, requests),
    executions: inOrderOfStart([...executions.seen(), ...ownExecutions(all, fixture.tools)], all),
    effects: { ...executions.effects(), ...ownEffects(all, fixture.tools) },
    ...(cast.servers !== undefined && { served: cast.servers.served() }),
    maxInFlight: mostInFlight(all),
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
