/** Signals, Updates and requests to cancel of a chain of histories, in the order in which the run heard of them. */
import type { Json } from '../../core/json/json.js';
import {
  argumentsOf,
  at,
  attributesOf,
  textAt,
  timeOf,
  typeOf,
  type HistoryEvent,
} from '../../recording/history.js';

/** Something that was said to the run. */
export interface Heard {
  /** Name of the signal or Update; `cancel`: a request to cancel. */
  readonly name: string;
  readonly value: Json;
  readonly place: number;
  /** Workflow time at which the run heard of it, ms since epoch. */
  readonly at: number;
  /** Time at which the server took it, ms since epoch. */
  readonly takenAt: number;
  /** It came from another workflow: a goal or a parent. */
  readonly byWorkflow?: true;
  /** The activation that heard of it: what ended between these places was heard together with it. */
  readonly together: { readonly after: number; readonly before: number };
}

export function heardIn(events: readonly HistoryEvent[]): readonly Heard[] {
  return events.flatMap((event, index): readonly Heard[] => {
    const said = saidIn(event);
    if (said === undefined) return [];
    const place = index - comesBefore(event);
    const isTask = (one: HistoryEvent): boolean => typeOf(one) === 'WORKFLOW_TASK_STARTED';
    const next = events.findIndex((one, other) => other > place && isTask(one));
    const after = events.findLastIndex((one, other) => other < place && isTask(one));
    const before = next < 0 ? events.length : next;
    const at = timeOf(events[before] ?? event);
    return [
      {
        ...said,
        place,
        at,
        // An Update is written down only when the run has heard of it.
        takenAt: Math.min(at, timeOf(event)),
        ...(isByWorkflow(event) && { byWorkflow: true }),
        together: { after, before },
      },
    ];
  });
}

function isByWorkflow(event: HistoryEvent): boolean {
  const kinds = ['workflowExecutionSignaled', 'workflowExecutionCancelRequested'];
  return kinds.some(
    (kind) =>
      textAt(attributesOf(event, kind), 'externalWorkflowExecution', 'workflowId') !== undefined,
  );
}

/** An Update is written down when it was accepted: it came with the workflow task that this event asked for. */
function comesBefore(event: HistoryEvent): number {
  const accepted = attributesOf(event, 'workflowExecutionUpdateAccepted');
  const asked = Number(textAt(accepted, 'acceptedRequestSequencingEventId'));
  return Number.isInteger(asked) ? Math.max(0, Number(event.eventId) - asked) : 0;
}

function saidIn(event: HistoryEvent): Pick<Heard, 'name' | 'value'> | undefined {
  switch (typeOf(event)) {
    case 'WORKFLOW_EXECUTION_SIGNALED': {
      const signal = attributesOf(event, 'workflowExecutionSignaled');
      return {
        name: textAt(signal, 'signalName') ?? '',
        value: argumentsOf(signal.input)[0] ?? null,
      };
    }
    case 'WORKFLOW_EXECUTION_UPDATE_ACCEPTED': {
      const request = at(attributesOf(event, 'workflowExecutionUpdateAccepted'), 'acceptedRequest');
      return {
        name: textAt(request, 'input', 'name') ?? '',
        value: argumentsOf(at(request, 'input', 'args'))[0] ?? null,
      };
    }
    case 'WORKFLOW_EXECUTION_CANCEL_REQUESTED':
      return { name: 'cancel', value: null };
    default:
      return undefined;
  }
}
