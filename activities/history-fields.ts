/**
 * The part of Temporal's definitions that nearly all events of a history are made of, at hand without the definitions
 * themselves: to load those takes as long as to check thousands of events.
 * Invariant: what is said here the definitions say. They have more: of what does not fit here only they tell.
 */
import { ownValue } from '../core/json/json.js';
import type { EnumType, FieldType, MessageType } from './history-form.js';

/** Fields, each `name:type`: `[type]` comes more than once, `{type}` by names, and of those with the same `|group` one at most. */
interface Said {
  readonly [name: string]: string;
}

/** By their types, what their attributes have. */
const EVENTS: Said = {
  WORKFLOW_EXECUTION_STARTED: `
    workflowType:WorkflowType taskQueue:TaskQueue input:Payloads workflowTaskTimeout:Duration
    originalExecutionRunId:string identity:string firstExecutionRunId:string attempt:int32
    firstWorkflowTaskBackoff:Duration searchAttributes:SearchAttributes header:Header workflowId:string
    workflowRunTimeout:Duration continuedExecutionRunId:string initiator:ContinueAsNewInitiator
    prevAutoResetPoints:ResetPoints parentWorkflowNamespace:string parentWorkflowNamespaceId:string
    parentWorkflowExecution:WorkflowExecution parentInitiatedEventId:int64 rootWorkflowExecution:WorkflowExecution
    memo:Memo`,
  WORKFLOW_TASK_SCHEDULED: `
    taskQueue:TaskQueue startToCloseTimeout:Duration attempt:int32`,
  WORKFLOW_TASK_STARTED: `
    scheduledEventId:int64 identity:string requestId:string historySizeBytes:int64 workerVersion:WorkerVersionStamp
    suggestContinueAsNew:bool suggestContinueAsNewReasons:[SuggestContinueAsNewReason]`,
  WORKFLOW_TASK_COMPLETED: `
    scheduledEventId:int64 startedEventId:int64 identity:string workerVersion:WorkerVersionStamp
    sdkMetadata:WorkflowTaskCompletedMetadata meteringMetadata:MeteringMetadata`,
  ACTIVITY_TASK_SCHEDULED: `
    activityId:string activityType:ActivityType taskQueue:TaskQueue header:Header input:Payloads
    scheduleToCloseTimeout:Duration scheduleToStartTimeout:Duration startToCloseTimeout:Duration
    heartbeatTimeout:Duration workflowTaskCompletedEventId:int64 retryPolicy:RetryPolicy useWorkflowBuildId:bool`,
  UPSERT_WORKFLOW_SEARCH_ATTRIBUTES: `
    workflowTaskCompletedEventId:int64 searchAttributes:SearchAttributes`,
  ACTIVITY_TASK_STARTED: `
    scheduledEventId:int64 identity:string requestId:string attempt:int32 workerVersion:WorkerVersionStamp
    lastFailure:Failure`,
  ACTIVITY_TASK_COMPLETED: `
    result:Payloads scheduledEventId:int64 startedEventId:int64 identity:string`,
  WORKFLOW_EXECUTION_COMPLETED: `
    result:Payloads workflowTaskCompletedEventId:int64`,
  ACTIVITY_TASK_FAILED: `
    failure:Failure scheduledEventId:int64 startedEventId:int64 identity:string retryState:RetryState`,
  WORKFLOW_EXECUTION_SIGNALED: `
    signalName:string input:Payloads identity:string header:Header externalWorkflowExecution:WorkflowExecution`,
  WORKFLOW_TASK_TIMED_OUT: `
    scheduledEventId:int64 timeoutType:TimeoutType startedEventId:int64`,
  TIMER_STARTED: `
    timerId:string startToFireTimeout:Duration workflowTaskCompletedEventId:int64`,
  TIMER_CANCELED: `
    timerId:string startedEventId:int64 workflowTaskCompletedEventId:int64 identity:string`,
  ACTIVITY_TASK_CANCEL_REQUESTED: `
    scheduledEventId:int64 workflowTaskCompletedEventId:int64`,
  TIMER_FIRED: `
    timerId:string startedEventId:int64`,
  WORKFLOW_EXECUTION_CONTINUED_AS_NEW: `
    newExecutionRunId:string workflowType:WorkflowType taskQueue:TaskQueue input:Payloads workflowRunTimeout:Duration
    workflowTaskTimeout:Duration workflowTaskCompletedEventId:int64 searchAttributes:SearchAttributes
    inheritBuildId:bool memo:Memo`,
  WORKFLOW_EXECUTION_UPDATE_ACCEPTED: `
    protocolInstanceId:string acceptedRequestMessageId:string acceptedRequestSequencingEventId:int64
    acceptedRequest:Request`,
  WORKFLOW_EXECUTION_UPDATE_COMPLETED: `
    meta:Meta acceptedEventId:int64 outcome:Outcome`,
  WORKFLOW_EXECUTION_CANCEL_REQUESTED: `
    identity:string cause:string externalInitiatedEventId:int64 externalWorkflowExecution:WorkflowExecution`,
  SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED: `
    workflowTaskCompletedEventId:int64 namespace:string namespaceId:string workflowExecution:WorkflowExecution
    signalName:string input:Payloads`,
  EXTERNAL_WORKFLOW_EXECUTION_SIGNALED: `
    initiatedEventId:int64 namespace:string namespaceId:string workflowExecution:WorkflowExecution`,
  START_CHILD_WORKFLOW_EXECUTION_INITIATED: `
    namespace:string namespaceId:string workflowId:string workflowType:WorkflowType taskQueue:TaskQueue
    input:Payloads workflowRunTimeout:Duration workflowTaskTimeout:Duration parentClosePolicy:ParentClosePolicy
    workflowTaskCompletedEventId:int64 workflowIdReusePolicy:WorkflowIdReusePolicy header:Header inheritBuildId:bool`,
  CHILD_WORKFLOW_EXECUTION_STARTED: `
    namespace:string namespaceId:string initiatedEventId:int64 workflowExecution:WorkflowExecution
    workflowType:WorkflowType header:Header`,
  CHILD_WORKFLOW_EXECUTION_COMPLETED: `
    result:Payloads namespace:string namespaceId:string workflowExecution:WorkflowExecution workflowType:WorkflowType
    initiatedEventId:int64 startedEventId:int64`,
};

const MESSAGES: Said = {
  UserMetadata: 'summary:Payload',
  Payload: 'metadata:{bytes} data:bytes',
  WorkflowType: 'name:string',
  TaskQueue: 'name:string kind:TaskQueueKind normalName:string',
  Payloads: 'payloads:[Payload]',
  SearchAttributes: 'indexedFields:{Payload}',
  Header: '',
  ResetPoints: 'points:[ResetPointInfo]',
  ResetPointInfo: `
    buildId:string runId:string firstWorkflowTaskCompletedId:int64 createTime:Timestamp expireTime:Timestamp
    resettable:bool`,
  WorkflowExecution: 'workflowId:string runId:string',
  Memo: 'fields:{Payload}',
  WorkerVersionStamp: 'buildId:string',
  WorkflowTaskCompletedMetadata: `
    coreUsedFlags:[uint32] sdkName:string sdkVersion:string langUsedFlags:[uint32]`,
  MeteringMetadata: '',
  ActivityType: 'name:string',
  RetryPolicy: `
    initialInterval:Duration backoffCoefficient:double maximumInterval:Duration maximumAttempts:int32
    nonRetryableErrorTypes:[string]`,
  Failure: `
    message:string source:string stackTrace:string cause:Failure
    applicationFailureInfo:ApplicationFailureInfo|failureInfo canceledFailureInfo:CanceledFailureInfo|failureInfo
    timeoutFailureInfo:TimeoutFailureInfo|failureInfo resetWorkflowFailureInfo:ResetWorkflowFailureInfo|failureInfo
    serverFailureInfo:ServerFailureInfo|failureInfo`,
  ApplicationFailureInfo: 'type:string nonRetryable:bool details:Payloads nextRetryDelay:Duration',
  CanceledFailureInfo: '',
  TimeoutFailureInfo: 'timeoutType:TimeoutType lastHeartbeatDetails:Payloads',
  ResetWorkflowFailureInfo: '',
  ServerFailureInfo: '',
  Request: 'meta:Meta input:Input',
  Meta: 'updateId:string identity:string',
  Input: 'header:Header name:string args:Payloads',
  Outcome: 'success:Payloads|value failure:Failure|value',
};

const ENUMS: Said = {
  TaskQueueKind: 'TASK_QUEUE_KIND_NORMAL TASK_QUEUE_KIND_STICKY',
  ContinueAsNewInitiator: 'CONTINUE_AS_NEW_INITIATOR_WORKFLOW',
  SuggestContinueAsNewReason: 'SUGGEST_CONTINUE_AS_NEW_REASON_TOO_MANY_HISTORY_EVENTS',
  TimeoutType: `
    TIMEOUT_TYPE_SCHEDULE_TO_START TIMEOUT_TYPE_SCHEDULE_TO_CLOSE TIMEOUT_TYPE_HEARTBEAT TIMEOUT_TYPE_START_TO_CLOSE`,
  RetryState: `
    RETRY_STATE_NON_RETRYABLE_FAILURE RETRY_STATE_TIMEOUT RETRY_STATE_RETRY_POLICY_NOT_SET
    RETRY_STATE_CANCEL_REQUESTED`,
  ParentClosePolicy: 'PARENT_CLOSE_POLICY_ABANDON',
  WorkflowIdReusePolicy: 'WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE',
};

const TYPE = 'EVENT_TYPE_';

/** `activityTaskScheduledEventAttributes` of `EVENT_TYPE_ACTIVITY_TASK_SCHEDULED`. */
export function attributesName(eventType: string): string {
  const kind = eventType.replace(/^EVENT_TYPE_/, '').toLowerCase();
  return `${kind.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())}EventAttributes`;
}

export function isCommonEvent(eventType: string): boolean {
  return eventType.startsWith(TYPE) && ownValue(EVENTS, eventType.slice(TYPE.length)) !== undefined;
}

/** An event of one of these types. */
export function commonEvent(): MessageType {
  const attributes = Object.keys(EVENTS).map(
    (name) => `${attributesName(name)}:${name}|attributes`,
  );
  return messageOf(
    'HistoryEvent',
    `eventId:int64 eventTime:Timestamp eventType:EventType taskId:int64 userMetadata:UserMetadata ${attributes.join(' ')}`,
  );
}

const known = new Map<string, MessageType | EnumType>();

/** Null for what is a value by itself. */
function typeNamed(name: string): MessageType | EnumType | null {
  const before = known.get(name);
  if (before !== undefined) return before;
  const made = typeOf(name);
  if (made !== null) known.set(name, made);
  return made;
}

function typeOf(name: string): MessageType | EnumType | null {
  if (name === 'EventType') return enumOf(Object.keys(EVENTS).map((type) => `${TYPE}${type}`));
  const values = ownValue(ENUMS, name);
  if (values !== undefined) return enumOf(values.trim().split(/\s+/));
  if (OWN_FORMS.includes(name)) return { fullName: `.google.protobuf.${name}`, fieldsArray: [] };
  const fields = ownValue(EVENTS, name) ?? ownValue(MESSAGES, name);
  return fields === undefined ? null : messageOf(name, fields);
}

const OWN_FORMS: readonly string[] = ['Duration', 'Timestamp'];

function enumOf(names: readonly string[]): EnumType {
  return { values: Object.fromEntries(names.map((name, index) => [name, index])) };
}

function messageOf(fullName: string, said: string): MessageType {
  const fields = Array.from(said.matchAll(FIELD), fieldOf);
  return { fullName, fieldsArray: fields };
}

const FIELD = /(\w+):([[{]?)(\w+)[\]}]?(?:\|(\w+))?/g;

function fieldOf([, jsonName, holder, type, group]: RegExpExecArray): FieldType {
  const field: FieldType = {
    jsonName: jsonName!,
    type: type!,
    map: holder === '{',
    repeated: holder === '[',
    keyType: 'string',
    partOf: group === undefined ? null : { name: group },
    get resolvedType() {
      return typeNamed(type!);
    },
    resolve: () => field,
  };
  return field;
}
