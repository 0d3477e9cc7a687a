/** Events of a history name earlier ones: which field of which event names an event of which kind. */
import { textAt, typeOf, type HistoryEvent, type JsonObject } from '../recording/history.js';

interface BackReference {
  readonly field: string;
  /** Of these events; the kind that is named may take over a part of their type. */
  readonly of: RegExp;
  readonly kind: string;
  /** The server always fills it in; elsewhere 0 or nothing means that there is no such event. */
  readonly always: boolean;
}

const BACK_REFERENCES: readonly BackReference[] = [
  {
    field: 'scheduledEventId',
    of: /^(WORKFLOW_TASK|ACTIVITY_TASK|NEXUS_OPERATION)_(?!SCHEDULED$)/,
    kind: '$1_SCHEDULED',
    always: true,
  },
  {
    field: 'startedEventId',
    of: /^(?:(WORKFLOW_TASK|ACTIVITY_TASK)_COMPLETED|(TIMER)_(?:FIRED|CANCELED))$/,
    kind: '$1$2_STARTED',
    always: true,
  },
  {
    field: 'startedEventId',
    of: /^(WORKFLOW_TASK|ACTIVITY_TASK|CHILD_WORKFLOW_EXECUTION)_/,
    kind: '$1_STARTED',
    always: false,
  },
  {
    field: 'latestCancelRequestedEventId',
    of: /^(ACTIVITY_TASK)_CANCELED$/,
    kind: '$1_CANCEL_REQUESTED',
    always: false,
  },
  {
    field: 'acceptedEventId',
    of: /^(WORKFLOW_EXECUTION_UPDATE)_COMPLETED$/,
    kind: '$1_ACCEPTED',
    always: true,
  },
  {
    field: 'initiatedEventId',
    of: /^(?:START_)?(CHILD_WORKFLOW_EXECUTION)_(?!INITIATED$)/,
    kind: 'START_$1_INITIATED',
    always: true,
  },
  {
    field: 'initiatedEventId',
    of: /^(?:EXTERNAL_WORKFLOW_EXECUTION_SIGNALED|SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED)$/,
    kind: 'SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED',
    always: true,
  },
  {
    field: 'workflowTaskCompletedEventId',
    of: /_/,
    kind: 'WORKFLOW_TASK_COMPLETED',
    always: false,
  },
];

/** By type, because a history has many events of few types. */
const ofType = new Map<string, readonly BackReference[]>();

function backReferencesOf(type: string): readonly BackReference[] {
  const known = ofType.get(type);
  if (known !== undefined) return known;
  const found = BACK_REFERENCES.flatMap((one) => {
    const match = one.of.exec(type);
    if (match === null) return [];
    const kind = one.kind.replaceAll(/\$(\d)/g, (_, part: string) => match[Number(part)] ?? '');
    return [{ ...one, kind }];
  });
  ofType.set(type, found);
  return found;
}

/** The field that names no event of the right kind before this one; `types` are those of the history. */
export function brokenReference(
  event: HistoryEvent,
  attributes: JsonObject,
  types: readonly string[],
): string | undefined {
  for (const { field, kind, always } of backReferencesOf(typeOf(event))) {
    const named = textAt(attributes, field) ?? '0';
    if (named === '0' && !always) continue;
    // Ids count from 1 without gaps, so an id is a place.
    const at = Number(named);
    if (at < Number(event.eventId) && types[at - 1] === kind) continue;
    return `${field} ${named.slice(0, 20)} names no ${kind} before it`;
  }
  return undefined;
}
