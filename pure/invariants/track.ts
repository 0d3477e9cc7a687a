/**
 * What events have said so far, as far as what must hold of the next one depends on it.
 * Invariant: bounded by the calls of one reply and the paths of the run's state, not by the run's length.
 */
import { canonicalJson, type Json } from '../../core/json/json.js';
import type { EventBody, RunEvent } from '../../core/state/event.js';

/** What the events so far have said of one call of the newest reply. */
interface CallTrack {
  readonly id: string;
  /** Its arguments were found good, or at least looked at. */
  readonly validated: boolean;
  /** undefined again after a correction: what was allowed is no longer what would run. */
  readonly permission: 'allow' | 'deny' | 'ask' | 'sandbox' | undefined;
  readonly approved: boolean;
  /** The hook that denied it. */
  readonly deniedBy?: string;
  /** The exact action that people were asked about, or that they want instead, as canonical JSON. */
  readonly action?: string;
  /** A person has answered the call's question. */
  readonly answered: boolean;
  readonly started: boolean;
  readonly finished: boolean;
}

export interface InvariantState {
  readonly nextSeq: number;
  /** Calls of the newest reply in proposal order, until their results message. */
  readonly calls: readonly CallTrack[];
  readonly proposed: number;
  /** Why the next reply is asked for: nothing yet has said so since the last one. */
  readonly unexplained: boolean;
  /** Nothing has said why the newest reply was asked for: it must be the run's last word. */
  readonly lastWord: boolean;
  /** The newest reply was found to be an answer. */
  readonly answered: boolean;
  /** An event named only the first calls of its reply: ids that nothing has named may follow. */
  readonly partlyShown: boolean;
  /** The newest message that was declared gone. */
  readonly tombstoned?: string;
  readonly fallbacks: number;
  readonly stop?: Extract<EventBody, { type: 'stop' }>;
  readonly ended: boolean;
  /** Paths of the state that results have become. */
  readonly paths: readonly string[];
}

export function startChecking(): InvariantState {
  return {
    nextSeq: 0,
    calls: [],
    proposed: 0,
    unexplained: false,
    lastWord: false,
    answered: false,
    partlyShown: false,
    fallbacks: 0,
    ended: false,
    paths: [],
  };
}

export type EventPredicate = (state: InvariantState, event: RunEvent) => string | undefined;

/** Events of a reply name at most this many calls. */
const CALLS_SHOWN_MAX = 32;

/** The state after an event. */
export function taken(state: InvariantState, event: RunEvent): InvariantState {
  const next = ofCall({ ...state, nextSeq: event.stamp.seq + 1 }, event);
  switch (event.type) {
    case 'model_response':
      return {
        ...next,
        calls: event.calls.map(({ id }) => untouched(id)),
        proposed: state.proposed + event.calls.length,
        unexplained: true,
        lastWord: state.unexplained,
        answered: false,
        partlyShown: state.partlyShown || event.calls.length >= CALLS_SHOWN_MAX,
      };
    case 'validation':
      return event.decision === 'final' ? { ...next, answered: true } : next;
    case 'user_message':
      return { ...next, unexplained: false };
    case 'tool_finished':
      return event.path === undefined ? next : { ...next, paths: [...next.paths, event.path] };
    case 'tool_results_message':
      return { ...next, calls: [] };
    case 'tombstone':
      return { ...next, tombstoned: event.targetMessageId };
    case 'transition':
      return {
        ...next,
        unexplained: false,
        fallbacks: state.fallbacks + Number(event.reason === 'model_fallback'),
      };
    case 'stop':
      return { ...next, stop: event };
    case 'run_result':
      return { ...next, ended: true };
    default:
      return next;
  }
}

function untouched(id: string): CallTrack {
  return {
    id,
    validated: false,
    permission: undefined,
    approved: false,
    answered: false,
    started: false,
    finished: false,
  };
}

/** What the event says of one call. */
function ofCall(state: InvariantState, event: RunEvent): InvariantState {
  switch (event.type) {
    case 'validation':
      return withTrack(state, event.callId, { validated: true });
    case 'hook':
      return event.name === 'PreToolUse' && (event.outcome === 'deny' || event.outcome === 'error')
        ? withTrack(state, event.callId, { deniedBy: event.hook })
        : state;
    case 'permission':
      return withTrack(state, event.callId, { permission: event.decision, approved: false });
    case 'approval_requested':
      return withTrack(state, event.callId, { action: actionOf(event) });
    case 'approval_resolved':
      return withTrack(state, event.callId, resolved(event));
    case 'input_provided':
      return withTrack(state, event.callId, { answered: event.outcome === 'answered' });
    case 'tool_started':
      return withTrack(state, event.callId, { started: true });
    case 'tool_finished':
      return withTrack(state, event.callId, { finished: true });
    default:
      return state;
  }
}

function resolved(event: Extract<EventBody, { type: 'approval_resolved' }>): Partial<CallTrack> {
  const { outcome, corrected } = event;
  if (corrected === undefined) return { approved: outcome === 'approved' };
  return { permission: undefined, approved: false, action: actionOf(corrected) };
}

/** The exact action, so that two can be compared. */
export function actionOf(about: { readonly tool?: string; readonly args?: Json }): string {
  return canonicalJson({ tool: about.tool ?? null, args: about.args ?? null });
}

function withTrack(
  state: InvariantState,
  id: string | undefined,
  change: Partial<CallTrack>,
): InvariantState {
  const calls = state.calls.map((call) => (call.id === id ? { ...call, ...change } : call));
  return { ...state, calls };
}
