/**
 * The steps of a replay, from the commands that the workflow's code gave.
 * Invariant: what the server would have filled in is filled in here in the same way, so that a replayed
 * step equals the recorded one exactly when the code decided the same.
 */
import { canonicalJson, sha256Hex, type Json } from '../core/json/json.js';
import type { RecordedCommand } from '../workflows/replay-recorder.js';
import { at, isObject, payloadValue, textAt, type JsonObject } from '../recording/history.js';
import { failureOf, payloadMap } from './recorded-steps.js';
import { recordedTimeouts, retryPolicy, type Step, type StepKind } from './step.js';

/** What a command means depends on the execution it was given in. */
export interface ReplayPlace {
  /** The task queue of the recorded execution. */
  readonly taskQueue: string;
  /** The queue that the replaying worker has in its place. */
  readonly replayQueue: string;
  /** Limit of the execution, 0: none. */
  readonly runTimeoutMs: number;
}

const PARENT_CLOSE_POLICIES = ['UNSPECIFIED', 'TERMINATE', 'ABANDON', 'REQUEST_CANCEL'];

/** In the order of the commands. */
export function replayedSteps(
  commands: readonly RecordedCommand[],
  place: ReplayPlace,
): readonly Step[] {
  /** Activities are cancelled by a number that histories do not know. */
  const activityIds = new Map<string, string>();
  return commands.flatMap((raw) => {
    const command = plain(raw);
    const scheduled = at(command, 'scheduleActivity');
    if (scheduled !== undefined) {
      activityIds.set(numberAt(scheduled, 'seq'), textAt(scheduled, 'activityId') ?? '');
    }
    const step = stepOf(command, place, activityIds);
    return step === undefined ? [] : [step];
  });
}

function stepOf(
  command: Json,
  place: ReplayPlace,
  activityIds: ReadonlyMap<string, string>,
): Step | undefined {
  if (!isObject(command)) return undefined;
  const given = (name: string): JsonObject => {
    const value = at(command, name);
    return isObject(value) ? value : {};
  };
  const seq = (name: string): string => numberAt(given(name), 'seq');
  const step = (kind: StepKind, id: string, value: JsonObject = {}): Step => ({ kind, id, value });
  const summary = payloadValue(at(command, 'userMetadata', 'summary'));
  if ('scheduleActivity' in command) return activity(given('scheduleActivity'), summary, place);
  if ('scheduleLocalActivity' in command) return localActivity(given('scheduleLocalActivity'));
  if ('requestCancelActivity' in command) {
    return step('activity_cancel', activityIds.get(seq('requestCancelActivity')) ?? '');
  }
  if ('startTimer' in command) {
    const afterMs = protoMs(at(given('startTimer'), 'startToFireTimeout'));
    return step('timer', seq('startTimer'), { afterMs, summary });
  }
  if ('cancelTimer' in command) return step('timer_cancel', seq('cancelTimer'));
  if ('startChildWorkflowExecution' in command) {
    return child(given('startChildWorkflowExecution'), place);
  }
  if ('signalExternalWorkflowExecution' in command) {
    return signal(given('signalExternalWorkflowExecution'));
  }
  if ('requestCancelExternalWorkflowExecution' in command) {
    const of = workflowOf(given('requestCancelExternalWorkflowExecution'));
    return step('cancel', '', { of });
  }
  if ('upsertWorkflowSearchAttributes' in command) {
    return step('search_attributes', '', shownBy(given('upsertWorkflowSearchAttributes')));
  }
  if ('updateResponse' in command) return updateReply(given('updateResponse'));
  return ending(command, place);
}

/** Numbers of commands are ids in histories. */
function numberAt(value: Json | undefined, name: string): string {
  return `${Number(at(value, name))}`;
}

function activity(given: JsonObject, summary: Json, place: ReplayPlace): Step {
  const value = {
    type: textAt(given, 'activityType') ?? '',
    taskQueue: queueOf(given, place),
    input: valuesOf(given.arguments),
    timeouts: recordedTimeouts(
      {
        scheduleToCloseMs: protoMs(given.scheduleToCloseTimeout),
        scheduleToStartMs: protoMs(given.scheduleToStartTimeout),
        startToCloseMs: protoMs(given.startToCloseTimeout),
        heartbeatMs: protoMs(given.heartbeatTimeout),
      },
      place.runTimeoutMs,
    ),
    retry: retryOf(given.retryPolicy),
    summary,
  };
  return { kind: 'activity', id: textAt(given, 'activityId') ?? '', value };
}

function localActivity(given: JsonObject): Step {
  const [input = null] = valuesOf(given.arguments);
  const called = at(input, 'call') as JsonObject | undefined;
  const { callId, callKey, tool, args } = called ?? {};
  const value = {
    type: textAt(given, 'activityType') ?? '',
    input: sha256Hex(canonicalJson(input)),
    ...(called !== undefined && { call: { callId, callKey, tool, args } as JsonObject }),
  };
  return { kind: 'local_activity', id: numberAt(given, 'seq'), value };
}

function retryOf(policy: Json | undefined): JsonObject {
  const amount = (name: string): number => Number(at(policy, name) ?? 0);
  const nonRetryable = at(policy, 'nonRetryableErrorTypes');
  return retryPolicy({
    initialMs: protoMs(at(policy, 'initialInterval')),
    maximumMs: protoMs(at(policy, 'maximumInterval')),
    coefficient: amount('backoffCoefficient'),
    maximumAttempts: amount('maximumAttempts'),
    nonRetryable: Array.isArray(nonRetryable) ? nonRetryable : [],
  });
}

function child(given: JsonObject, place: ReplayPlace): Step {
  const policy = PARENT_CLOSE_POLICIES[Number(given.parentClosePolicy ?? 0)] ?? 'UNSPECIFIED';
  const value = {
    type: textAt(given, 'workflowType') ?? '',
    taskQueue: queueOf(given, place),
    input: valuesOf(given.input),
    parentClosePolicy: `PARENT_CLOSE_POLICY_${policy}`,
    shows: shownBy(given),
  };
  return { kind: 'child', id: textAt(given, 'workflowId') ?? '', value };
}

function shownBy(given: JsonObject): JsonObject {
  return payloadMap(at(given, 'searchAttributes', 'indexedFields') ?? given.searchAttributes);
}

/** That is signalled, or asked to stop. */
function workflowOf(given: JsonObject): string {
  return textAt(given, 'workflowExecution', 'workflowId') ?? textAt(given, 'childWorkflowId') ?? '';
}

function signal(given: JsonObject): Step {
  const value = {
    to: workflowOf(given),
    name: textAt(given, 'signalName') ?? '',
    input: valuesOf(given.args),
  };
  return { kind: 'signal', id: '', value };
}

/** Only the answer is compared: that an update was taken on is no decision, and refusals are not recorded. */
function updateReply(given: JsonObject): Step | undefined {
  const id = textAt(given, 'protocolInstanceId') ?? '';
  if (given.completed !== undefined) {
    return { kind: 'update_reply', id, value: { value: payloadValue(given.completed) } };
  }
  if (given.rejected === undefined) return undefined;
  return { kind: 'update_reply', id, value: { failure: failureOf(given.rejected) } };
}

function ending(command: JsonObject, place: ReplayPlace): Step | undefined {
  const next = at(command, 'continueAsNewWorkflowExecution');
  if (isObject(next)) {
    const value = {
      type: textAt(next, 'workflowType') ?? '',
      taskQueue: queueOf(next, place),
      input: valuesOf(next.arguments),
    };
    return { kind: 'continue_as_new', id: '', value };
  }
  const completed = at(command, 'completeWorkflowExecution');
  if (completed !== undefined) {
    const value = { value: payloadValue(at(completed, 'result')) };
    return { kind: 'result', id: '', value };
  }
  const failed = at(command, 'failWorkflowExecution');
  if (failed !== undefined) {
    return { kind: 'failure', id: '', value: { failure: failureOf(at(failed, 'failure')) } };
  }
  return 'cancelWorkflowExecution' in command
    ? { kind: 'cancelled', id: '', value: {} }
    : undefined;
}

function queueOf(given: JsonObject, { taskQueue, replayQueue }: ReplayPlace): string {
  const queue = textAt(given, 'taskQueue');
  // An empty name means the execution's own queue.
  return queue === undefined || queue === replayQueue ? taskQueue : queue;
}

function valuesOf(payloads: Json | undefined): readonly Json[] {
  return Array.isArray(payloads) ? payloads.map(payloadValue) : [];
}

/** Milliseconds of `{seconds, nanos}`. */
function protoMs(duration: Json | undefined): number {
  const amount = (name: string): number => Number(at(duration, name) ?? 0);
  return amount('seconds') * 1_000 + Math.round(amount('nanos') / 1_000_000);
}

interface Long {
  readonly low: number;
  readonly high: number;
}

/** A command as JSON: bytes in base64 and long numbers as numbers, as histories have them. */
function plain(value: unknown): Json {
  if (ArrayBuffer.isView(value)) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  }
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null) {
    if (isLong(value)) return value.high * 2 ** 32 + (value.low >>> 0);
    const fields = Object.entries(value).filter(([, one]) => one !== undefined && one !== null);
    return Object.fromEntries(fields.map(([name, one]) => [name, plain(one)]));
  }
  const scalar = typeof value === 'string' || typeof value === 'number' || value === true;
  return scalar ? (value as Json) : value === false ? false : null;
}

function isLong(value: object): value is Long {
  return 'low' in value && 'high' in value && 'unsigned' in value;
}
