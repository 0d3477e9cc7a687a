/** Ends of segments that serve no handover: where they are depends on when an engine has nothing more to do. */
import type { RunEvent } from '../../core/state/event.js';
import type { RunResult } from '../../core/state/result.js';
import type { Observation } from '../engine.js';

/** What was seen without them, and without their number in the result. */
export function withoutSegments({
  events,
  result,
}: Pick<Observation, 'events' | 'result'>): Pick<Observation, 'events' | 'result'> {
  const kept = events.filter((event, index) => !isSegmentEnd(event, events[index + 1]));
  const ended = events.length - kept.length;
  return {
    events: kept.map((event) =>
      event.type === 'run_result' ? { ...event, result: lessBy(ended, event.result) } : event,
    ),
    ...(result !== undefined && { result: lessBy(ended, result) }),
  };
}

export function isSegmentEnd(event: RunEvent, next: RunEvent | undefined): boolean {
  return (
    event.type === 'transition' && event.reason === 'continued_as_new' && next?.type !== 'handoff'
  );
}

function lessBy<R extends Pick<RunResult, 'trace'>>(ended: number, result: R): R {
  return { ...result, trace: { ...result.trace, events: result.trace.events - ended } };
}
