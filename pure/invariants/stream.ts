/** What must hold of the stream of events and of its end (scenarios (iii), (iv) and (vii)): a part of the invariants. */
import type { RunEvent } from '../../core/state/event.js';
import type { Counters } from '../../core/state/result.js';
import type { EventPredicate, InvariantState } from './track.js';

export const STREAM_PREDICATES: readonly EventPredicate[] = [
  seqHasNoGap,
  sessionInitIsFirst,
  runResultIsLast,
  stopIsUnique,
  goneStaysGone,
  resultIsConsistent,
];

function seqHasNoGap(state: InvariantState, event: RunEvent): string | undefined {
  return event.stamp.seq === state.nextSeq ? undefined : `expected seq ${state.nextSeq}`;
}

function sessionInitIsFirst(_state: InvariantState, event: RunEvent): string | undefined {
  const first = event.stamp.seq === 0;
  return first === (event.type === 'session_init')
    ? undefined
    : 'session_init is first, only first';
}

function runResultIsLast(state: InvariantState, event: RunEvent): string | undefined {
  if (state.ended) return 'nothing follows run_result';
  if (event.type !== 'run_result' || state.stop !== undefined) return undefined;
  return 'run_result without a stop';
}

function stopIsUnique(state: InvariantState, event: RunEvent): string | undefined {
  if (state.stop === undefined) return undefined;
  if (event.type === 'stop') return 'a second stop';
  const starts = ['tool_started', 'model_response', 'approval_requested', 'input_request', 'hook'];
  return starts.includes(event.type) ? 'nothing starts after stop' : undefined;
}

function goneStaysGone(state: InvariantState, event: RunEvent): string | undefined {
  const names = event.type === 'model_response' || event.type === 'user_message';
  return names && event.messageId === state.tombstoned
    ? `${event.messageId} was declared gone`
    : undefined;
}

function resultIsConsistent(state: InvariantState, event: RunEvent): string | undefined {
  if (event.type !== 'run_result') return undefined;
  const { result } = event;
  const { counters } = result;
  if (result.completed !== (result.stopReason === 'completed'))
    return 'completed is not the reason';
  if (result.stopReason !== state.stop?.reason)
    return `stop said ${state.stop?.reason ?? 'nothing'}`;
  if (result.trace.events !== event.stamp.seq + 1) return `${result.trace.events} events in trace`;
  if (!state.partlyShown && counters.proposedCalls !== state.proposed)
    return `${counters.proposedCalls} proposed calls, the replies had ${state.proposed}`;
  if (counters.fallbacks !== state.fallbacks)
    return `${counters.fallbacks} fallbacks counted, ${state.fallbacks} told`;
  return countersAddUp(counters);
}

function countersAddUp(counters: Counters): string | undefined {
  const { toolCalls, deniedCalls, invalidCalls, skippedCalls, inputRequests, notStartedCalls } =
    counters;
  const sum =
    toolCalls + deniedCalls + invalidCalls + skippedCalls + inputRequests + notStartedCalls;
  return sum === counters.proposedCalls
    ? undefined
    : `the counters give ${sum} calls, ${counters.proposedCalls} were proposed`;
}
