/**
 * Where recorded values hold JSON Schemas: of the input of tools, of the answer of a task, of the answer that a server of a
 * tool wants of a person.
 * Invariant: a schema is known by its place in our own payloads and nodes, never by the name it stands under,
 * because arguments and results may have any names.
 */
import type { Json } from '../../core/json/json.js';
import {
  at,
  attributesOf,
  textAt,
  typeOf,
  type HistoryEvent,
  type JsonObject,
} from '../../recording/history.js';
import { localEndOf } from '../../recording/markers.js';

/** Names of scheduled activities by the id of the event. */
type ActivityTypes = ReadonlyMap<string, string>;

export interface PayloadPlace {
  readonly event: HistoryEvent;
  /** `input[0]` */
  readonly path: string;
}

interface PlaceInHistory extends PayloadPlace {
  readonly activities: ActivityTypes;
}

/** `*`: each of a list. */
type Path = readonly string[];

const OF_QUESTION: Path = ['elicitation', 'schema'];
/** Events of the run stand in the input of every activity. */
const OF_EVENTS: Path = ['events', '*', ...OF_QUESTION];

/** By the payload that holds them: what `core/state/task.ts`, `core/state/frozen.ts` and the payloads of activities declare. */
const SCHEMA_PATHS: { readonly [payload: string]: readonly Path[] } = {
  'start input[0]': [['task', 'outputSchema']],
  'continued input[0]': [
    ['continued', 'start', 'task', 'outputSchema'],
    ['continued', 'frozen', 'outputSchema'],
    ['continued', 'asks', '*', ...OF_QUESTION],
    ['continued', 'outbox', 'events', '*', ...OF_QUESTION],
  ],
  'open_run input[0]': [['start', 'task', 'outputSchema']],
  'open_run result[0]': [['frozen', 'outputSchema']],
  'call_model input[0]': [['outputSchema']],
  'execute_tool result[0]': [['outcome', ...OF_QUESTION]],
};

export function activityTypes(events: readonly HistoryEvent[]): ActivityTypes {
  return new Map(
    events.flatMap((event) => {
      const type = textAt(attributesOf(event, 'activityTaskScheduled'), 'activityType', 'name');
      return type === undefined ? [] : [[event.eventId, type] as const];
    }),
  );
}

export function schemasOfPayload(value: Json, place: PlaceInHistory): ReadonlySet<Json> {
  // Of work within a task, the marker has the result among its details.
  const path = place.path.replace(/^details\./, '');
  const paths = SCHEMA_PATHS[`${holderOf(place)} ${path}`] ?? [];
  const ofEvents = place.path === 'input[0]' ? [OF_EVENTS] : [];
  return existing([...paths, ...ofEvents].flatMap((one) => valuesAt(value, one)));
}

/** Hash of the large text with what a server of a tool asked in a call. */
export function exchangeIn(value: Json, place: PlaceInHistory): string | undefined {
  if (place.path !== 'result[0]' || holderOf(place) !== 'execute_tool') return undefined;
  return textAt(value, 'outcome', 'exchange', '$blob');
}

/** Of an event as the store has it. */
export function schemasOfEvent(event: Json): ReadonlySet<Json> {
  return existing([at(event, ...OF_QUESTION)]);
}

/** Of what a server asks, with its state and the answers so far. */
export function schemasOfExchange(exchange: Json): ReadonlySet<Json> {
  return existing(valuesAt(exchange, ['requests', '*', 'request', 'schema']));
}

function valuesAt(value: Json | undefined, [name, ...rest]: Path): readonly (Json | undefined)[] {
  if (name === undefined) return [value];
  if (name !== '*') return valuesAt(at(value, name), rest);
  return Array.isArray(value) ? value.flatMap((one: Json) => valuesAt(one, rest)) : [];
}

/** The root node offers the tools. */
export function schemasOfNode(node: JsonObject): ReadonlySet<Json> {
  if (node.role !== 'root' || !Array.isArray(node.tools)) return new Set();
  return existing((node.tools as readonly Json[]).map((tool) => at(tool, 'inputSchema')));
}

/** What an event belongs to: an activity, or work within a task, by its type, the start of a run, or its going on in a new segment. */
function holderOf({ event, activities }: PlaceInHistory): string | undefined {
  switch (typeOf(event)) {
    case 'WORKFLOW_EXECUTION_STARTED': {
      const started = attributesOf(event, 'workflowExecutionStarted');
      return textAt(started, 'continuedExecutionRunId') === undefined ? 'start' : 'continued';
    }
    case 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW':
      return 'continued';
    case 'ACTIVITY_TASK_SCHEDULED':
      return activities.get(event.eventId);
    case 'ACTIVITY_TASK_COMPLETED': {
      const scheduled = textAt(attributesOf(event, 'activityTaskCompleted'), 'scheduledEventId');
      return scheduled === undefined ? undefined : activities.get(scheduled);
    }
    default:
      return localEndOf(event)?.type;
  }
}

/** Only what holds something: other values are no places, they are the same everywhere. */
function existing(values: readonly (Json | undefined)[]): ReadonlySet<Json> {
  return new Set(
    values.filter((value): value is Json => typeof value === 'object' && value !== null),
  );
}
