/**
 * A bundle as what it records: the activities of a run in their order, what was said to it, and how it began.
 * Invariants: everything is read from the histories, segment after segment; nothing of it is changed.
 */
import { inputOf, kindOf, wholeAnswer } from '../../recording/activity-payloads.js';
import type { ActivityKind, InputOf, OutputOf } from '../../core/state/effect.js';
import type { Frozen } from '../../core/state/frozen.js';
import type { Json } from '../../core/json/json.js';
import type { StartInput } from '../../core/state/task.js';
import type { TranscriptNode } from '../../core/state/transcript.js';
import type { Bundle } from '../../replay/bundle.js';
import {
  argumentsOf,
  at,
  attributesOf,
  textAt,
  timeOf,
  typeOf,
  type HistoryEvent,
  type JsonObject,
} from '../../recording/history.js';
import { localEndOf } from '../../recording/markers.js';
import { failureOf } from '../../replay/recorded-steps.js';
import { heardIn, type Heard } from './heard.js';
import { refused } from './refused.js';
import { timed } from './timed.js';

export interface Activity {
  readonly kind: ActivityKind;
  readonly input: Json;
  readonly end: ActivityEnd;
  /** Places in the whole chain of histories, from 0; undefined: it had not ended. */
  readonly from: number;
  readonly to: number | undefined;
  /** When the server wrote these down, ms since epoch. */
  readonly begunAt: number;
  readonly endedAt?: number;
  /** It ran within the task that decided, so long, ms. */
  readonly withinMs?: number;
  /** Workflow time that the run spent on it, in ms (`timed`). */
  readonly tookMs: number;
  /** Workflow time at which the run heard of its end, ms since epoch. */
  readonly heardAt?: number;
}

export type ActivityEnd =
  | { readonly kind: 'completed'; readonly output: Json }
  | {
      readonly kind: 'failed';
      readonly type: string;
      readonly message: string;
      readonly details: Json;
    }
  | { readonly kind: 'lost'; readonly message: string }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'open' };

export interface Recording {
  readonly bundle: Bundle;
  readonly start: StartInput;
  readonly frozen: Frozen;
  readonly root: TranscriptNode;
  readonly opened: OutputOf<'open_run'>;
  readonly activities: readonly Activity[];
  readonly heard: readonly Heard[];
  /** A quick read went on as an ordinary call. */
  readonly wentElsewhere: boolean;
}

/** What histories say, whatever their workflow. */
export interface Histories {
  /** Name of the workflow; undefined: of an unknown type. */
  readonly workflow: string | undefined;
  /** What it was started with. */
  readonly argument: Json;
  readonly events: readonly HistoryEvent[];
  readonly activities: readonly Activity[];
  readonly heard: readonly Heard[];
}

export function historiesOf(bundle: Pick<Bundle, 'segments'>): Histories {
  const events = bundle.segments.flatMap((segment) => segment.events);
  const started = attributesOf(events[0], 'workflowExecutionStarted');
  return {
    workflow: textAt(started, 'workflowType', 'name'),
    argument: argumentsOf(started.input)[0] ?? null,
    events,
    activities: bundle.segments.flatMap((segment) =>
      activitiesOf(segment.events, placesBefore(bundle, segment)),
    ),
    heard: heardIn(events),
  };
}

/** Errors: `CaptureRefused`. */
export function recordingOf(bundle: Bundle): Recording {
  const { workflow, argument, events, activities, heard } = historiesOf(bundle);
  if (workflow !== 'agentRun') {
    throw refused(
      `${bundle.run.runId} is no run but a ${workflow ?? 'workflow of an unknown type'}`,
    );
  }
  const start = argument as unknown as StartInput;
  const opened = activities.find(({ kind }) => kind === 'open_run')?.end;
  const output =
    opened?.kind === 'completed' ? (opened.output as unknown as OutputOf<'open_run'>) : undefined;
  if (output?.frozen === undefined)
    throw refused(
      start.fork === undefined
        ? 'the run was never opened, so nothing of it is recorded'
        : `it is a fork of ${start.fork.id}`,
    );
  const root = bundle.nodes[output.frozen.prompt.hash];
  if (root === undefined) throw refused('the bundle lacks the prompt of the run');
  return {
    bundle,
    start,
    frozen: output.frozen,
    root: root as unknown as TranscriptNode,
    opened: output,
    activities: timed({ events, activities, heard, counts: output.frozen.settings.timeoutCounts }),
    heard,
    wentElsewhere: events.some(isElsewhere),
  };
}

function isElsewhere(event: HistoryEvent): boolean {
  const end = localEndOf(event);
  if (end?.type !== 'execute_tool') return false;
  return (textAt(end.output, 'outcome', 'kind') ?? 'elsewhere') === 'elsewhere';
}

/** The activities of a kind, as what they were given and what they gave. */
export function ofKind<Kind extends ActivityKind>(
  { activities }: Pick<Recording, 'activities'>,
  kind: Kind,
): readonly { readonly activity: Activity; readonly input: InputOf<Kind> }[] {
  return activities
    .filter((activity) => activity.kind === kind)
    .map((activity) => ({ activity, input: activity.input as unknown as InputOf<Kind> }));
}

export function outputOf<Kind extends ActivityKind>(
  { end }: Activity,
  _kind: Kind,
): OutputOf<Kind> | undefined {
  return end.kind === 'completed' ? (end.output as unknown as OutputOf<Kind>) : undefined;
}

function placesBefore(
  bundle: Pick<Bundle, 'segments'>,
  segment: Bundle['segments'][number],
): number {
  return bundle.segments
    .slice(0, bundle.segments.indexOf(segment))
    .reduce((sum, { events }) => sum + events.length, 0);
}

type Growing = { -readonly [Field in keyof Activity]: Activity[Field] };

function activitiesOf(events: readonly HistoryEvent[], offset: number): readonly Activity[] {
  const byId = new Map<string, Growing>();
  for (const [index, event] of events.entries()) {
    const place = offset + index;
    const type = typeOf(event);
    const local = localActivity(event, place);
    if (local !== undefined) byId.set(event.eventId, local);
    if (type === 'ACTIVITY_TASK_SCHEDULED') {
      byId.set(event.eventId, {
        kind: kindOf(event) as ActivityKind,
        input: inputOf(event) ?? null,
        end: { kind: 'open' },
        from: place,
        to: undefined,
        begunAt: timeOf(event),
        tookMs: 0,
      });
      continue;
    }
    const { known, end } = endedBy(event, byId);
    if (known === undefined || end === undefined) continue;
    known.end = end;
    known.to = place;
    known.endedAt = timeOf(event);
  }
  return [...byId.values()];
}

/**
 * Work within a task, with as much of what it was given as it said itself; undefined: the event is of something else, or
 * of an attempt that never answered, of which nothing is known.
 */
function localActivity(event: HistoryEvent, place: number): Growing | undefined {
  const { type, output } = localEndOf(event) ?? {};
  const input = type === 'open_run' ? inputOfOpening(output) : inputOfCall(output);
  if (type === undefined || output === undefined || input === undefined) return undefined;
  return {
    kind: type as ActivityKind,
    input,
    end: { kind: 'completed', output: wholeAnswer(type, output) },
    from: place,
    to: place,
    begunAt: timeOf(event),
    endedAt: timeOf(event),
    withinMs: Number(output.durationMs ?? 0),
    tookMs: 0,
  };
}

function inputOfCall(output: JsonObject | undefined): JsonObject | undefined {
  const call = at(output, 'quick', 'call');
  return call === undefined ? undefined : { call };
}

/** An opening that went elsewhere is followed by the one that counts. */
function inputOfOpening(output: JsonObject | undefined): JsonObject | undefined {
  return output?.elsewhere === undefined ? {} : undefined;
}

const ENDS = {
  ACTIVITY_TASK_COMPLETED: 'activityTaskCompleted',
  ACTIVITY_TASK_FAILED: 'activityTaskFailed',
  ACTIVITY_TASK_TIMED_OUT: 'activityTaskTimedOut',
  ACTIVITY_TASK_CANCELED: 'activityTaskCanceled',
} as const;

function endedBy(
  event: HistoryEvent,
  byId: ReadonlyMap<string, Growing>,
): { readonly known?: Growing | undefined; readonly end?: ActivityEnd } {
  const type = typeOf(event);
  if (!(type in ENDS)) return {};
  const attributes = attributesOf(event, ENDS[type as keyof typeof ENDS]);
  const known = byId.get(textAt(attributes, 'scheduledEventId') ?? '');
  switch (type) {
    case 'ACTIVITY_TASK_COMPLETED': {
      const output = argumentsOf(attributes.result)[0] ?? null;
      return { known, end: { kind: 'completed', output: wholeAnswer(known?.kind ?? '', output) } };
    }
    case 'ACTIVITY_TASK_FAILED': {
      const failure = failureOf(at(attributes, 'failure'));
      const details = (failure.details as readonly Json[])[0] ?? null;
      const [message, code] = [failure.message as string, failure.type as string];
      return { known, end: { kind: 'failed', type: code, message, details } };
    }
    case 'ACTIVITY_TASK_TIMED_OUT':
      return {
        known,
        end: { kind: 'lost', message: textAt(attributes, 'failure', 'message') ?? '' },
      };
    case 'ACTIVITY_TASK_CANCELED':
      return { known, end: { kind: 'cancelled' } };
    default:
      return { known };
  }
}
