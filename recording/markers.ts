/**
 * Work within a task, as histories have it: a marker that says which work of its execution it was, when it ended and what
 * it came to, and nothing of what it was given.
 * Invariant: reading is total; of a marker that is none of these there is nothing.
 */
import type { Json } from '../core/json/json.js';
import {
  argumentsOf,
  at,
  attributesOf,
  isObject,
  textAt,
  typeOf,
  type HistoryEvent,
  type JsonObject,
} from './history.js';

/** As Temporal names the marker. */
const LOCAL_ACTIVITY = 'core_local_activity';

export interface LocalEnd {
  /** By which Temporal knows the work, within its execution. */
  readonly seq: string;
  /** Type of the activity. */
  readonly type: string;
  /** Workflow time at which the run heard of it, ms since epoch; undefined: its task's. */
  readonly at: number | undefined;
  /** Undefined: it failed. */
  readonly output: JsonObject | undefined;
  /** In Temporal's JSON; undefined: it has an output. */
  readonly failure: Json | undefined;
}

/** Undefined: the event is of something else. */
export function localEndOf(event: HistoryEvent): LocalEnd | undefined {
  if (typeOf(event) !== 'MARKER_RECORDED') return undefined;
  const marker = attributesOf(event, 'markerRecorded');
  if (textAt(marker, 'markerName') !== LOCAL_ACTIVITY) return undefined;
  const [data] = argumentsOf(at(marker, 'details', 'data'));
  const seq = at(data, 'seq');
  const [output] = argumentsOf(at(marker, 'details', 'result'));
  const failure = at(marker, 'failure');
  return {
    seq: typeof seq === 'number' ? `${seq}` : '',
    type: textAt(data, 'activity_type') ?? '',
    at: msOf(at(data, 'complete_time')),
    output: failure === undefined && isObject(output) ? output : undefined,
    failure,
  };
}

function msOf(time: Json | undefined): number | undefined {
  const seconds = at(time, 'seconds');
  const nanos = at(time, 'nanos') ?? 0;
  if (typeof seconds !== 'number' || typeof nanos !== 'number') return undefined;
  return seconds * 1_000 + Math.floor(nanos / 1_000_000);
}
