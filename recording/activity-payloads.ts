/**
 * What activities were given and answered, whole, whichever form a history has them in (core/step/brief-input.ts).
 * Invariant: reading is total; what no workflow and no activity has made stays as it is.
 */
import type { Json } from '../core/json/json.js';
import type { ActivityKind } from '../core/state/effect.js';
import { wholeInput } from '../core/step/brief-input.js';
import { wholeOutput } from '../core/step/brief-output.js';
import {
  argumentsOf,
  attributesOf,
  textAt,
  typeOf,
  type HistoryEvent,
  type PayloadReader,
} from './history.js';

/** Undefined: the event schedules no activity. A request by the run's own route may lack the route. */
export function inputOf(event: HistoryEvent, read?: PayloadReader): Json | undefined {
  if (typeOf(event) !== 'ACTIVITY_TASK_SCHEDULED') return undefined;
  const scheduled = attributesOf(event, 'activityTaskScheduled');
  const [given] = argumentsOf(scheduled.input, read);
  return given && totally(given, () => wholeInput(kindOf(event), given));
}

/** Type of the activity that an event schedules. */
export function kindOf(event: HistoryEvent): string {
  return textAt(attributesOf(event, 'activityTaskScheduled'), 'activityType', 'name') ?? '';
}

export function wholeAnswer(kind: string, output: Json): Json {
  return totally(output, () => wholeOutput(kind as ActivityKind, output as never) as never);
}

function totally(given: Json, whole: () => Json): Json {
  try {
    return whole();
  } catch {
    return given;
  }
}
