/** What the events of calls must say (scenarios (i) and (v)): a part of the invariants. */
import type { RunEvent } from '../../core/state/event.js';
import { pathIsNew } from './parallel.js';
import { actionOf, type EventPredicate, type InvariantState } from './track.js';

export const CALL_PREDICATES: readonly EventPredicate[] = [
  repliesFollowResults,
  startsArePermitted,
  stopHooksJudgeAnswers,
  callsEndOnce,
  pathsAreWrittenOnce,
  resultsKeepTheOrder,
  stopLeavesNoCallOpen,
];

function repliesFollowResults(state: InvariantState, event: RunEvent): string | undefined {
  if (event.type !== 'model_response' || state.calls.length === 0) return undefined;
  return `a reply before the results of ${state.calls.map((call) => call.id).join(', ')}`;
}

function startsArePermitted(state: InvariantState, event: RunEvent): string | undefined {
  if (event.type !== 'tool_started') return undefined;
  const call = state.calls.find((one) => one.id === event.callId);
  if (call === undefined) return state.partlyShown ? undefined : `nobody proposed ${event.callId}`;
  if (call.finished) return `${call.id} has its result already`;
  if (call.deniedBy !== undefined) return `${call.id} started although ${call.deniedBy} denied it`;
  if (call.action !== undefined && call.action !== actionOf(event))
    return `${call.id} is not what people were asked about`;
  if (call.permission === 'allow' || call.permission === 'sandbox') return undefined;
  if (call.permission === 'ask' && call.approved) return undefined;
  return `${call.id} started with permission ${call.permission ?? 'none'}, not approved`;
}

function stopHooksJudgeAnswers(state: InvariantState, event: RunEvent): string | undefined {
  if (event.type !== 'hook' || event.name !== 'Stop' || state.calls.length === 0) return undefined;
  return `a Stop hook judges a reply with the calls ${state.calls.map((call) => call.id).join(', ')}`;
}

function callsEndOnce(state: InvariantState, event: RunEvent): string | undefined {
  if (event.type !== 'tool_finished') return undefined;
  if (event.hosted)
    return event.started ? `${event.callId} is the vendor's and started` : undefined;
  const call = state.calls.find((one) => one.id === event.callId);
  if (call === undefined) return state.partlyShown ? undefined : `nobody proposed ${event.callId}`;
  if (call.finished) return `a second result of ${call.id}`;
  if (event.started !== call.started) return `${call.id} says started: ${event.started}`;
  return event.status === 'ok' && !call.started && !call.answered
    ? `${call.id} is ok and never started`
    : undefined;
}

function pathsAreWrittenOnce(state: InvariantState, event: RunEvent): string | undefined {
  if (event.type !== 'tool_finished' || event.path === undefined) return undefined;
  return event.status === 'ok'
    ? pathIsNew(state.paths, event.path)
    : `${event.callId} did not succeed and wrote ${event.path}`;
}

function resultsKeepTheOrder(state: InvariantState, event: RunEvent): string | undefined {
  if (event.type !== 'tool_results_message') return undefined;
  const open = state.calls.filter((call) => !call.finished).map((call) => call.id);
  if (open.length > 0) return `no result of ${open.join(', ')}`;
  const proposed = state.calls.map((call) => call.id);
  const shown = state.partlyShown ? event.callIds.slice(0, proposed.length) : event.callIds;
  return shown.join() === proposed.join() ? undefined : `${shown.join()} for ${proposed.join()}`;
}

function stopLeavesNoCallOpen(state: InvariantState, event: RunEvent): string | undefined {
  if (event.type !== 'stop' || state.calls.length === 0) return undefined;
  return `no results message for ${state.calls.map((call) => call.id).join(', ')}`;
}
