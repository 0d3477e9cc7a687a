/**
 * The workflow tasks of a history, each with what had arrived for it: what one activation of the workflow received at
 * once, and what it commanded.
 * Invariant: an event that arrived belongs to exactly one activation, the first whose task completed after it.
 */
import { codeOf } from './chain.js';
import { at, attributesOf, textAt, timeOf, typeOf, type HistoryEvent } from './history.js';

export interface Activation {
  /** Of the event at which the worker began with it. */
  readonly eventId: number;
  /** The workflow's clock: ms since epoch. */
  readonly at: number;
  /** How the worker named the code that decided; absent: it did not. */
  readonly code: string | undefined;
  /** The server finds the history long. */
  readonly suggestsContinuing: boolean;
  /** In the order in which the workflow hears of them: messages first. */
  readonly arrived: readonly HistoryEvent[];
  /** What the code commanded, in order. */
  readonly commands: readonly HistoryEvent[];
}

const MESSAGES: readonly string[] = [
  'WORKFLOW_EXECUTION_SIGNALED',
  'WORKFLOW_EXECUTION_UPDATE_ACCEPTED',
];

const OTHERS: readonly string[] = [
  'WORKFLOW_EXECUTION_CANCEL_REQUESTED',
  'ACTIVITY_TASK_COMPLETED',
  'ACTIVITY_TASK_FAILED',
  'ACTIVITY_TASK_TIMED_OUT',
  'ACTIVITY_TASK_CANCELED',
  'TIMER_FIRED',
  'CHILD_WORKFLOW_EXECUTION_STARTED',
  'START_CHILD_WORKFLOW_EXECUTION_FAILED',
  'CHILD_WORKFLOW_EXECUTION_COMPLETED',
  'CHILD_WORKFLOW_EXECUTION_FAILED',
  'CHILD_WORKFLOW_EXECUTION_CANCELED',
  'EXTERNAL_WORKFLOW_EXECUTION_SIGNALED',
  'SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED',
];

const COMMANDS: readonly string[] = [
  'MARKER_RECORDED',
  'ACTIVITY_TASK_SCHEDULED',
  'ACTIVITY_TASK_CANCEL_REQUESTED',
  'TIMER_STARTED',
  'TIMER_CANCELED',
  'START_CHILD_WORKFLOW_EXECUTION_INITIATED',
];

interface Begun {
  readonly started: HistoryEvent;
  readonly completed: HistoryEvent;
  readonly arrived: HistoryEvent[];
  readonly commands: HistoryEvent[];
}

/** Oldest first. What has arrived and was not yet decided on belongs to none. */
export function activationsOf(events: readonly HistoryEvent[]): readonly Activation[] {
  const activations: Begun[] = [];
  const admitted = new Map<string, HistoryEvent>();
  let waiting: HistoryEvent[] = [];
  for (const [index, event] of events.entries()) {
    const type = typeOf(event);
    const current = activations.at(-1);
    if (type === 'WORKFLOW_TASK_STARTED') {
      const next = events[index + 1];
      // One that failed or timed out has decided nothing.
      if (next === undefined || typeOf(next) !== 'WORKFLOW_TASK_COMPLETED') continue;
      activations.push({ started: event, completed: next, arrived: waiting, commands: [] });
      waiting = [];
    } else if (type === 'WORKFLOW_EXECUTION_UPDATE_ACCEPTED') {
      // Recorded when the task that heard of it completes.
      current?.arrived.push(withRequest(event, admitted));
    } else if (type === 'WORKFLOW_EXECUTION_UPDATE_ADMITTED') {
      const request = at(attributesOf(event, 'workflowExecutionUpdateAdmitted'), 'request');
      admitted.set(textAt(request, 'meta', 'updateId') ?? '', event);
    } else if (COMMANDS.includes(type)) {
      current?.commands.push(event);
    } else if (OTHERS.includes(type) || MESSAGES.includes(type)) {
      waiting.push(event);
    }
  }
  return activations.map(activationOf);
}

/** After a reset the request stands in an event of its own. */
function withRequest(
  accepted: HistoryEvent,
  admitted: ReadonlyMap<string, HistoryEvent>,
): HistoryEvent {
  const attributes = attributesOf(accepted, 'workflowExecutionUpdateAccepted');
  if (at(attributes, 'acceptedRequest') !== undefined) return accepted;
  const before = admitted.get(textAt(attributes, 'protocolInstanceId') ?? '');
  const request = at(attributesOf(before, 'workflowExecutionUpdateAdmitted'), 'request');
  if (request === undefined) return accepted;
  return {
    ...accepted,
    workflowExecutionUpdateAcceptedEventAttributes: { ...attributes, acceptedRequest: request },
  };
}

function activationOf({ started, completed, arrived, commands }: Begun): Activation {
  return {
    eventId: Number(started.eventId),
    at: timeOf(started),
    code: codeOf(completed),
    suggestsContinuing:
      at(attributesOf(started, 'workflowTaskStarted'), 'suggestContinueAsNew') === true,
    arrived: arrived.toSorted(
      (one, other) => rankOf(one) - rankOf(other) || placeOf(one) - placeOf(other),
    ),
    commands,
  };
}

/** Messages are heard before outcomes, a cancellation of the workflow before the outcomes of effects. */
function rankOf(event: HistoryEvent): number {
  if (MESSAGES.includes(typeOf(event))) return 0;
  return typeOf(event) === 'WORKFLOW_EXECUTION_CANCEL_REQUESTED' ? 1 : 2;
}

/** An Update comes after the event that it names. */
function placeOf(event: HistoryEvent): number {
  const accepted = attributesOf(event, 'workflowExecutionUpdateAccepted');
  const after = Number(at(accepted, 'acceptedRequestSequencingEventId') ?? 0);
  const own = Number(event.eventId);
  return after > 0 && after < own ? after + own / EVENT_IDS : own;
}

/** More than any history has. */
const EVENT_IDS = 2 ** 32;
