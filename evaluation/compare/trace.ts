/**
 * The trace in the words of the first fixture format: `step:N:proposal:<kind>`, `step:N:validation:<decision>`,
 * `step:N:tool:<ok|error>`, plain names such as `tool_result`, and every event's own names.
 */
import type { RunEvent } from '../../core/state/event.js';
import { difference, NO_DIFFERENCE, type Difference } from './difference.js';
import type { Seen } from './seen.js';

/** What other specifications call an event, beside its own name. */
const OTHER_NAMES: { readonly [type in RunEvent['type']]?: readonly string[] } = {
  session_init: ['system/init'],
  model_response: ['proposal', 'assistant'],
  approval_requested: ['system/status'],
  approval_resolved: ['system/status'],
  approval_withdrawn: ['system/status'],
  input_request: ['system/status'],
  input_provided: ['system/status'],
  user_message: ['user'],
  tool_started: ['action', 'tool_progress'],
  tool_finished: ['tool_result', 'observation', 'tool_progress'],
  tool_results_message: ['user'],
  compact_boundary: ['system/compact_boundary'],
  tombstone: ['system/tombstone'],
  model_error: ['error'],
  retry: ['error'],
  run_result: ['result'],
};

export function judgeTrace(path: 'requires_trace_events' | 'trace_includes') {
  return (wanted: readonly string[], { trail }: Seen): readonly Difference[] => {
    const trace = traceOf(trail.events);
    const missing = wanted.filter((name) => !trace.has(name));
    if (missing.length === 0) return NO_DIFFERENCE;
    return missing.flatMap((name) => difference(path, name, likeIt(name, trace)));
  };
}

export function traceOf(events: readonly RunEvent[]): ReadonlySet<string> {
  return new Set(
    events.flatMap((event, index) => [
      event.type,
      ...(OTHER_NAMES[event.type] ?? []),
      ...stepNames(event, events.slice(index + 1)),
    ]),
  );
}

function stepNames(event: RunEvent, later: readonly RunEvent[]): readonly string[] {
  const step = `step:${event.stamp.step}`;
  switch (event.type) {
    case 'model_response':
      return [`${step}:proposal:${kindOf(event, later)}`];
    case 'validation':
      return [`${step}:validation:${event.decision}`];
    case 'tool_finished':
      return event.status === 'skipped' ? [] : [`${step}:tool:${event.status}`];
    case 'transition':
      return [event.reason];
    case 'warning':
      return [event.code];
    default:
      return [];
  }
}

/** What a reply proposed; a text is an escalation when that is how it was validated. */
function kindOf(
  response: Extract<RunEvent, { type: 'model_response' }>,
  later: readonly RunEvent[],
): 'tool' | 'answer' | 'escalate' | 'refuse' {
  if (response.calls.length > 0) return 'tool';
  if (response.stopReason.startsWith('refusal')) return 'refuse';
  const next = later.find(
    (event) => event.type === 'model_response' || event.type === 'validation',
  );
  return next?.type === 'validation' && next.decision === 'escalate' ? 'escalate' : 'answer';
}

/** Of a missing name the difference shows what there is instead. */
function likeIt(name: string, trace: ReadonlySet<string>): readonly string[] {
  const all = [...trace];
  const kin = all.filter((other) => other.startsWith('step:') === name.startsWith('step:'));
  return kin.length > 0 ? kin : all;
}
