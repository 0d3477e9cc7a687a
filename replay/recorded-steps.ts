/** The steps of a history. */
import { codeOf } from '../recording/chain.js';
import type { Json } from '../core/json/json.js';
import { localEndOf } from '../recording/markers.js';
import {
  argumentsOf,
  at,
  attributesOf,
  durationMs,
  isObject,
  payloadValue,
  textAt,
  typeOf,
  type HistoryEvent,
  type JsonObject,
} from '../recording/history.js';
import { retryPolicy, type RecordedStep, type Step } from './step.js';

/** In the order of the events. */
export function recordedSteps(events: readonly HistoryEvent[]): readonly RecordedStep[] {
  const byId = new Map(events.map((event) => [event.eventId, event]));
  let code: string | undefined;
  return events.flatMap((event) => {
    // What a workflow task has decided follows it in the history.
    if (typeOf(event) === 'WORKFLOW_TASK_COMPLETED') code = codeOf(event);
    const step = stepOf(event, byId);
    return step === undefined ? [] : [{ ...step, eventId: Number(event.eventId), code }];
  });
}

/** How workers named the code that has decided some step, in the order of the events, each once. */
export function codesOf(events: readonly HistoryEvent[]): readonly string[] {
  const byId = new Map(events.map((event) => [event.eventId, event]));
  const codes = new Set<string>();
  let code: string | undefined;
  for (const event of events) {
    if (typeOf(event) === 'WORKFLOW_TASK_COMPLETED') code = codeOf(event);
    // What a step was given is read of the first alone.
    if (code === undefined || codes.has(code)) continue;
    if (stepOf(event, byId) !== undefined) codes.add(code);
  }
  return [...codes];
}

type Events = ReadonlyMap<string, HistoryEvent>;

function stepOf(event: HistoryEvent, byId: Events): Step | undefined {
  switch (typeOf(event)) {
    case 'ACTIVITY_TASK_SCHEDULED':
      return activity(event);
    case 'ACTIVITY_TASK_CANCEL_REQUESTED': {
      const of = textAt(attributesOf(event, 'activityTaskCancelRequested'), 'scheduledEventId');
      const scheduled = attributesOf(byId.get(of ?? ''), 'activityTaskScheduled');
      return { kind: 'activity_cancel', id: textAt(scheduled, 'activityId') ?? '', value: {} };
    }
    case 'MARKER_RECORDED':
      return localActivity(event);
    case 'TIMER_STARTED': {
      const timer = attributesOf(event, 'timerStarted');
      const afterMs = durationMs(timer.startToFireTimeout);
      const value = { afterMs, summary: summaryOf(event) };
      return { kind: 'timer', id: textAt(timer, 'timerId') ?? '', value };
    }
    case 'TIMER_CANCELED': {
      const id = textAt(attributesOf(event, 'timerCanceled'), 'timerId') ?? '';
      return { kind: 'timer_cancel', id, value: {} };
    }
    case 'START_CHILD_WORKFLOW_EXECUTION_INITIATED':
      return child(event);
    case 'SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED':
      return signal(event);
    case 'REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED': {
      const asked = attributesOf(event, 'requestCancelExternalWorkflowExecutionInitiated');
      const of = textAt(asked, 'workflowExecution', 'workflowId') ?? '';
      return { kind: 'cancel', id: '', value: { of } };
    }
    case 'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES': {
      const { searchAttributes } = attributesOf(event, 'upsertWorkflowSearchAttributes');
      const value = payloadMap(at(searchAttributes, 'indexedFields'));
      return { kind: 'search_attributes', id: '', value };
    }
    case 'WORKFLOW_EXECUTION_UPDATE_COMPLETED':
      return updateReply(event);
    default:
      return ending(event);
  }
}

function activity(event: HistoryEvent): Step {
  const scheduled = attributesOf(event, 'activityTaskScheduled');
  const value = {
    type: textAt(scheduled, 'activityType', 'name') ?? '',
    taskQueue: textAt(scheduled, 'taskQueue', 'name') ?? '',
    input: argumentsOf(scheduled.input),
    timeouts: {
      scheduleToCloseMs: durationMs(scheduled.scheduleToCloseTimeout),
      scheduleToStartMs: durationMs(scheduled.scheduleToStartTimeout),
      startToCloseMs: durationMs(scheduled.startToCloseTimeout),
      heartbeatMs: durationMs(scheduled.heartbeatTimeout),
    },
    retry: retryOf(scheduled.retryPolicy),
    summary: summaryOf(event),
  };
  return { kind: 'activity', id: textAt(scheduled, 'activityId') ?? '', value };
}

/** Of what it was given a history has the digest alone, and not even that where it never answered. */
function localActivity(event: HistoryEvent): Step | undefined {
  const end = localEndOf(event);
  if (end === undefined) return undefined;
  const { seq, type, output } = end;
  const call = at(output, 'quick', 'call');
  const input = textAt(output, 'quick', 'input');
  const value = {
    type,
    ...(input !== undefined && { input, ...(call !== undefined && { call }) }),
  };
  return { kind: 'local_activity', id: seq, value };
}

function retryOf(policy: Json | undefined): JsonObject {
  const amount = (name: string): number => {
    const value = at(policy, name);
    return typeof value === 'number' ? value : 0;
  };
  const nonRetryable = at(policy, 'nonRetryableErrorTypes');
  return retryPolicy({
    initialMs: durationMs(at(policy, 'initialInterval')),
    maximumMs: durationMs(at(policy, 'maximumInterval')),
    coefficient: amount('backoffCoefficient'),
    maximumAttempts: amount('maximumAttempts'),
    nonRetryable: Array.isArray(nonRetryable) ? nonRetryable : [],
  });
}

function child(event: HistoryEvent): Step {
  const initiated = attributesOf(event, 'startChildWorkflowExecutionInitiated');
  const value = {
    type: textAt(initiated, 'workflowType', 'name') ?? '',
    taskQueue: textAt(initiated, 'taskQueue', 'name') ?? '',
    input: argumentsOf(initiated.input),
    parentClosePolicy: textAt(initiated, 'parentClosePolicy') ?? 'PARENT_CLOSE_POLICY_UNSPECIFIED',
    shows: payloadMap(at(initiated, 'searchAttributes', 'indexedFields')),
  };
  return { kind: 'child', id: textAt(initiated, 'workflowId') ?? '', value };
}

function signal(event: HistoryEvent): Step {
  const initiated = attributesOf(event, 'signalExternalWorkflowExecutionInitiated');
  const value = {
    to: textAt(initiated, 'workflowExecution', 'workflowId') ?? '',
    name: textAt(initiated, 'signalName') ?? '',
    input: argumentsOf(initiated.input),
  };
  return { kind: 'signal', id: '', value };
}

function updateReply(event: HistoryEvent): Step {
  const completed = attributesOf(event, 'workflowExecutionUpdateCompleted');
  const failure = at(completed, 'outcome', 'failure');
  const value: JsonObject =
    failure === undefined
      ? { value: argumentsOf(at(completed, 'outcome', 'success'))[0] ?? null }
      : { failure: failureOf(failure) };
  return { kind: 'update_reply', id: textAt(completed, 'meta', 'updateId') ?? '', value };
}

function ending(event: HistoryEvent): Step | undefined {
  switch (typeOf(event)) {
    case 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW': {
      const next = attributesOf(event, 'workflowExecutionContinuedAsNew');
      const value = {
        type: textAt(next, 'workflowType', 'name') ?? '',
        taskQueue: textAt(next, 'taskQueue', 'name') ?? '',
        input: argumentsOf(next.input),
      };
      return { kind: 'continue_as_new', id: '', value };
    }
    case 'WORKFLOW_EXECUTION_COMPLETED': {
      const { result } = attributesOf(event, 'workflowExecutionCompleted');
      return { kind: 'result', id: '', value: { value: argumentsOf(result)[0] ?? null } };
    }
    case 'WORKFLOW_EXECUTION_FAILED': {
      const { failure } = attributesOf(event, 'workflowExecutionFailed');
      return { kind: 'failure', id: '', value: { failure: failureOf(failure) } };
    }
    case 'WORKFLOW_EXECUTION_CANCELED':
      return { kind: 'cancelled', id: '', value: {} };
    default:
      return undefined;
  }
}

/** Without the stack trace: that is a matter of where files lie. */
export function failureOf(failure: Json | undefined): JsonObject {
  const info = at(failure, 'applicationFailureInfo');
  return {
    message: textAt(failure, 'message') ?? '',
    type: textAt(info, 'type') ?? '',
    nonRetryable: at(info, 'nonRetryable') === true,
    details: argumentsOf(at(info, 'details')),
  };
}

export function payloadMap(payloads: Json | undefined): JsonObject {
  if (!isObject(payloads)) return {};
  const values = Object.entries(payloads).map(([name, one]) => [name, payloadValue(one)] as const);
  return Object.fromEntries(values);
}

function summaryOf(event: HistoryEvent): Json {
  return payloadValue(at(event, 'userMetadata', 'summary'));
}
