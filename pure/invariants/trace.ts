/** A trace tells why: what each step needs before the next one. A part of the invariants. */
import type { RunEvent } from '../../core/state/event.js';
import type { EventPredicate, InvariantState } from './track.js';

export const TRACE_PREDICATES: readonly EventPredicate[] = [
  startsAreValidated,
  failuresHaveACode,
  repliesHaveAReason,
  answersAreValidated,
];

function startsAreValidated(state: InvariantState, event: RunEvent): string | undefined {
  if (event.type !== 'tool_started') return undefined;
  const call = state.calls.find((one) => one.id === event.callId);
  return call === undefined || call.validated ? undefined : `${call.id} started without validation`;
}

function failuresHaveACode(_state: InvariantState, event: RunEvent): string | undefined {
  return event.type === 'tool_finished' && event.status === 'error' && event.code === undefined
    ? `${event.callId} failed and nothing says how`
    : undefined;
}

/** A transition, or a message of the user, leads from one reply to the next; a last word needs none. */
function repliesHaveAReason(state: InvariantState, event: RunEvent): string | undefined {
  // A new segment is the same conversation.
  const isSegment = event.type === 'transition' && event.reason === 'continued_as_new';
  return state.lastWord && !isSegment && GOING_ON.includes(event.type)
    ? 'the run goes on after a reply that nothing has asked for'
    : undefined;
}

const GOING_ON: readonly RunEvent['type'][] = ['model_response', 'tool_started', 'transition'];

function answersAreValidated(state: InvariantState, event: RunEvent): string | undefined {
  return event.type === 'stop' && event.detail === 'final_answer' && !state.answered
    ? 'an answer that nobody found to be one'
    : undefined;
}
